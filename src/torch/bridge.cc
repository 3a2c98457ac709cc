// What tch lacks of libtorch, behind functions that C can call. `bridge.rs` declares them.
//
// A tensor is passed as tch keeps it: as a pointer to an `at::Tensor`. Every function returns null, or what went wrong,
// to be freed with `free`.

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>
#include <ATen/record_function.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/util/env.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace {

template <typename Act>
char* caught(Act act) {
  try {
    act();
    return nullptr;
  } catch (const std::exception& error) {
    if (char* text = strdup(error.what())) return text;
  } catch (...) {
    if (char* text = strdup("an exception without a message")) return text;
  }
  std::abort();  // no memory is left for the message
}

std::vector<at::Tensor> list(at::Tensor* const* tensors, size_t count) {
  std::vector<at::Tensor> all;
  all.reserve(count);
  for (size_t i = 0; i < count; ++i) all.push_back(*tensors[i]);
  return all;
}

// How often each operation was called, and how often it called no other one.
std::mutex guard;
std::map<std::string, std::pair<int64_t, int64_t>> calls;
at::CallbackHandle handle = at::INVALID_CALLBACK_HANDLE;
thread_local std::vector<bool> calls_others;

// One operation for many tensors on a GPU. On the CPU it calls others for each tensor, which are not counted.
thread_local int inside_multi_tensor = 0;

bool is_multi_tensor(const at::RecordFunction& function) {
  const std::string name = function.name();
  return name == "aten::_fused_adamw_" || name == "aten::_foreach_norm" || name == "aten::_foreach_copy_";
}

std::unique_ptr<at::ObserverContext> begun(const at::RecordFunction& function) {
  if (inside_multi_tensor == 0) {
    if (!calls_others.empty()) calls_others.back() = true;
    calls_others.push_back(false);
  }
  inside_multi_tensor += is_multi_tensor(function);
  return nullptr;
}

void ended(const at::RecordFunction& function, at::ObserverContext*) {
  if (inside_multi_tensor > 0) inside_multi_tensor -= is_multi_tensor(function);
  if (inside_multi_tensor > 0 || calls_others.empty()) return;
  const bool is_leaf = !calls_others.back();
  calls_others.pop_back();
  std::lock_guard<std::mutex> lock(guard);
  auto& [all, leaves] = calls[function.name()];
  all += 1;
  leaves += is_leaf;
}

}  // namespace

extern "C" {

// The norm of all tensors together, a float32 scalar on their device.
char* tiered_global_norm(at::Tensor* const* tensors, size_t count, at::Tensor** norm) {
  return caught([&] {
    at::NoGradGuard no_grad;
    const auto norms = at::_foreach_norm(list(tensors, count), 2);
    *norm = new at::Tensor(at::linalg_vector_norm(at::stack(norms), 2));
  });
}

// Copies each of `from` into the one of `into` with the same number, whose kind may be another.
char* tiered_copy_each(at::Tensor* const* into, at::Tensor* const* from, size_t count) {
  return caught([&] { at::_foreach_copy_(list(into, count), list(from, count)); });
}

// Seeds the generator of a device: an operation that draws numbers on it starts there.
char* tiered_seed(int is_cuda, int device, uint64_t seed) {
  return caught([&] {
    const auto where = is_cuda ? at::Device(at::kCUDA, static_cast<at::DeviceIndex>(device)) : at::Device(at::kCPU);
    auto generator = at::globalContext().defaultGenerator(where);
    std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_current_seed(seed);
  });
}

// A copy in memory from which a GPU can fetch without waiting.
char* tiered_pinned(const at::Tensor* tensor, at::Tensor** pinned) {
  return caught([&] { *pinned = new at::Tensor(tensor->pin_memory()); });
}

// One step of AdamW for all parameters. The gradients are divided by `scale`; if `skip` is 1, nothing changes.
char* tiered_fused_adamw(at::Tensor* const* parameters, at::Tensor* const* gradients, at::Tensor* const* first_moments,
                         at::Tensor* const* second_moments, size_t count, at::Tensor* step, double rate, double beta1,
                         double beta2, double decay, double epsilon, at::Tensor* scale, at::Tensor* skip) {
  return caught([&] {
    at::NoGradGuard no_grad;
    const std::vector<at::Tensor> steps(count, *step);
    at::_fused_adamw_(list(parameters, count), list(gradients, count), list(first_moments, count),
                      list(second_moments, count), {}, steps, rate, beta1, beta2, decay, epsilon, /*amsgrad=*/false,
                      /*maximize=*/false, *scale, *skip);
  });
}

// Attention within each of many sequences that lie end to end: sequence i has the rows from starts[i] to starts[i + 1].
char* tiered_packed_attention(const at::Tensor* queries, const at::Tensor* keys, const at::Tensor* values,
                              const at::Tensor* starts, int64_t longest, double dropout, at::Tensor** context) {
  return caught([&] {
    auto all = at::_flash_attention_forward(*queries, *keys, *values, *starts, *starts, longest, longest, dropout,
                                            /*is_causal=*/false, /*return_debug_mask=*/false);
    *context = new at::Tensor(std::get<0>(all));
  });
}

char* tiered_allow_tf32(int allow) {
  return caught([&] {
    at::globalContext().setAllowTF32CuBLAS(allow != 0);
    at::globalContext().setAllowTF32CuDNN(allow != 0);
  });
}

// cuBLAS needs its variable to give the same numbers each time. It is not set otherwise: where it is set, libtorch parses it
// again for every matmul with a bias.
char* tiered_deterministic_algorithms(int deterministic) {
  return caught([&] {
    if (deterministic != 0) c10::utils::set_env("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/false);
    at::globalContext().setDeterministicAlgorithms(deterministic != 0, /*warn_only=*/true);
    at::globalContext().setDeterministicCuDNN(deterministic != 0);
    at::globalContext().setBenchmarkCuDNN(false);
    // cuDNN's attention makes a plan for each shape, and shapes change with each step.
    at::globalContext().setSDPUseCuDNN(false);
  });
}

// Bytes of a GPU's memory: the most that tensors had since the last reset, and the most that was reserved for them.
char* tiered_cuda_peak(int device, int64_t* allocated, int64_t* reserved) {
  return caught([&] {
    const auto stats = c10::getDeviceAllocator(c10::kCUDA)->getDeviceStats(static_cast<c10::DeviceIndex>(device));
    const auto all = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    *allocated = stats.allocated_bytes[all].peak;
    *reserved = stats.reserved_bytes[all].peak;
  });
}

char* tiered_reset_cuda_peak(int device) {
  return caught([&] { c10::getDeviceAllocator(c10::kCUDA)->resetPeakStats(static_cast<c10::DeviceIndex>(device)); });
}

// Starts counting the operations of all threads from 0.
char* tiered_start_counting() {
  return caught([&] {
    {
      std::lock_guard<std::mutex> lock(guard);
      calls.clear();
    }
    handle = at::addGlobalCallback(at::RecordFunctionCallback(begun, ended).scopes({at::RecordScope::FUNCTION}));
  });
}

// Stops, and writes a line "NAME CALLS LEAVES" for each operation, to be freed with `free`.
char* tiered_stop_counting(char** lines) {
  return caught([&] {
    at::removeCallback(handle);
    std::lock_guard<std::mutex> lock(guard);
    std::string text;
    for (const auto& [name, count] : calls) {
      text += name + ' ' + std::to_string(count.first) + ' ' + std::to_string(count.second) + '\n';
    }
    *lines = strdup(text.c_str());
    if (*lines == nullptr) throw std::bad_alloc();
  });
}
}
