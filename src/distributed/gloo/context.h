#pragma once
#include <chrono>

namespace gloo {

class Context {
 public:
  void setTimeout(std::chrono::milliseconds);
};

}  // namespace gloo
