// c10d, PyTorch's engine for many processes, as five C functions (src/distributed/ffi.rs declares them).
//
// PyTorch's packages lack gloo's headers. Those in gloo/ declare the little of it that ProcessGroupGloo.hpp names, as
// it is in libtorch 2.13.0. Another version may differ, so it is refused.
#include <torch/headeronly/version.h>
#if TORCH_VERSION_MAJOR != 2 || TORCH_VERSION_MINOR != 13 || TORCH_VERSION_PATCH != 0
#error "the declarations in src/distributed/gloo/ fit libtorch 2.13.0 only"
#endif
#define USE_C10D_GLOO
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

using Backend = c10::intrusive_ptr<c10d::Backend>;
using Store = c10::intrusive_ptr<c10d::Store>;

struct Group {
  Backend all;
  // Of a power of two processes: for each bit of the rank, this process and the one whose rank differs in that bit.
  std::vector<Backend> pairs;
};

namespace {

// Runs `work`; returns 0, or 1 with the reason in `message`. To name c10::Error here would link libc10 to `tiered`, the
// program without libtorch.
template <class Work>
int guarded(char* message, size_t size, Work work) {
  try {
    work();
    return 0;
  } catch (const std::exception& error) {
    std::snprintf(message, size, "%s", error.what());
  } catch (...) {
    std::snprintf(message, size, "an unknown error");
  }
  return 1;
}

// It takes the network interface from GLOO_SOCKET_IFNAME, else the one that the host's name resolves to.
Backend gloo_of(const Store& store, int rank, int size, std::chrono::milliseconds timeout) {
  auto options = c10d::ProcessGroupGloo::Options::create_default(timeout);
  options->threads = 1;
  return c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, size, options);
}

void all_reduce(const Backend& backend, const at::Tensor& tensor) {
  std::vector<at::Tensor> tensors{tensor};
  backend->allreduce(tensors)->wait();
}

}  // namespace

extern "C" {

int tiered_c10d_open(Group** group, const char* host, int port, int rank, int size, bool serves, const char* prefix,
                     int64_t timeout_ms, char* message, size_t length) {
  return guarded(message, length, [&] {
    std::chrono::milliseconds timeout(timeout_ms);
    c10d::TCPStoreOptions options;
    options.port = static_cast<uint16_t>(port);
    options.isServer = serves;
    options.numWorkers = size;
    options.timeout = timeout;
    auto tcp = c10::make_intrusive<c10d::TCPStore>(host, options);
    Store store = c10::make_intrusive<c10d::PrefixStore>(prefix, tcp);
    Group opened{gloo_of(store, rank, size, timeout), {}};
    bool is_power_of_two = (size & (size - 1)) == 0;
    for (int bit = 1; is_power_of_two && bit < size; bit *= 2) {
      auto name = "pair/" + std::to_string(bit) + "/" + std::to_string(rank & ~bit);
      Store own = c10::make_intrusive<c10d::PrefixStore>(name, store);
      opened.pairs.push_back(gloo_of(own, (rank & bit) != 0, 2, timeout));
    }
    *group = new Group(std::move(opened));
  });
}

void tiered_c10d_close(Group* group) { delete group; }

// Adds up over all processes, in place.
int tiered_c10d_sum(Group* group, at::Tensor* tensor, char* message, size_t length) {
  return guarded(message, length, [&] { all_reduce(group->all, *tensor); });
}

// The same as a binary tree over the ranks: neighbours first, then neighbouring twos, and so on.
int tiered_c10d_sum_by_pairs(Group* group, at::Tensor* tensor, char* message, size_t length) {
  return guarded(message, length, [&] {
    for (const auto& pair : group->pairs) all_reduce(pair, *tensor);
  });
}

int tiered_c10d_broadcast(Group* group, at::Tensor* tensor, int from, char* message, size_t length) {
  return guarded(message, length, [&] {
    std::vector<at::Tensor> tensors{*tensor};
    c10d::BroadcastOptions options;
    options.rootRank = from;
    group->all->broadcast(tensors, options)->wait();
  });
}

}  // extern "C"
