#include "qkv/timing/machine.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <limits>
#include <thread>
#include <vector>

#include "qkv/core/processors.hpp"
#include "qkv/ops/backends/blas.hpp"
#include "qkv/ops/linear.hpp"
#include "qkv/ops/matmul.hpp"
#include "qkv/timing/measure.hpp"

namespace qkv {
namespace {

using Clock = std::chrono::steady_clock;

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

Buffer filled(std::int64_t count) {
  Buffer buffer(count);
  for (std::int64_t i = 0; i < count; ++i) buffer.data()[i] = static_cast<float>(i % 7) * 0.25F - 0.75F;
  return buffer;
}

/// Seconds of the fastest of some runs, for so long and at least three times.
double fastest(double patience, const std::function<void()>& run) {
  auto best = std::numeric_limits<double>::max();
  const auto begin = Clock::now();
  for (int times = 0; times < 3 || std::chrono::duration<double>(Clock::now() - begin).count() < patience; ++times)
    best = std::min(best, time_passes(1, run));
  return best;
}

struct ProductShape {
  std::int64_t rows;
  std::int64_t in;
  std::int64_t out;

  [[nodiscard]] double flops() const { return 2.0 * static_cast<double>(rows * in * out); }
};
constexpr std::array product_shapes{ProductShape{512, 768, 3072}, ProductShape{512, 1024, 1024},
                                    ProductShape{1024, 512, 512}};
constexpr double product_patience = 0.1;  // seconds a shape

double linear_rate(const ops::LinearBackend& backend, ops::Precision precision) {
  double best = 0.0;
  for (const auto& shape : product_shapes) {
    const auto matrix = filled(shape.out * shape.in);
    const ops::Linear linear(backend, {matrix.view(shape.out, shape.in)}, {}, {precision, 0});
    const auto x = filled(shape.rows * shape.in);
    const Buffer y(shape.rows * shape.out);
    const auto run = [&] { linear.apply(x.view(shape.rows, shape.in), y.view(shape.rows, shape.out)); };
    best = std::max(best, shape.flops() / fastest(product_patience, run));
  }
  return best;
}

double matmul_rate() {
  double best = 0.0;
  for (const auto& shape : product_shapes) {
    const auto a = filled(shape.rows * shape.in);
    const auto b = filled(shape.in * shape.out);
    const Buffer c(shape.rows * shape.out);
    const auto run = [&] {
      ops::matmul(a.view(shape.rows, shape.in), b.view(shape.in, shape.out), c.view(shape.rows, shape.out));
    };
    best = std::max(best, shape.flops() / fastest(product_patience, run));
  }
  return best;
}

/// Reads numbers as fast as they come: several sums side by side, so that no addition waits for another.
float sum_of(const float* numbers, std::int64_t count) {
  constexpr std::int64_t width = 128;
  std::array<float, width> sums{};
  for (std::int64_t i = 0; i + width <= count; i += width)
#pragma omp simd
    for (std::int64_t lane = 0; lane < width; ++lane) sums[static_cast<std::size_t>(lane)] += numbers[i + lane];
  float sum = 0.0F;
  for (const auto lane : sums) sum += lane;
  return sum;
}

/// Each thread reads its own share, again and again, so that starting the threads does not count.
double read_rate(std::int64_t bytes, int threads) {
  constexpr double sample_bytes = 1e9;
  const auto count = bytes / static_cast<std::int64_t>(sizeof(float));
  const auto share = count / threads;
  const auto rounds = std::max<std::int64_t>(1, static_cast<std::int64_t>(sample_bytes / static_cast<double>(bytes)));
  const auto block = filled(count);
  std::vector<float> sums(static_cast<std::size_t>(threads));
  const auto read = [&](int thread) {
    for (std::int64_t round = 0; round < rounds; ++round)
      sums[static_cast<std::size_t>(thread)] += sum_of(block.data() + thread * share, share);
  };
  const auto read_all = [&] {
    std::vector<std::jthread> others;
    for (int thread = 1; thread < threads; ++thread) others.emplace_back(read, thread);
    read(0);
  };
  return static_cast<double>(rounds * share * threads * static_cast<std::int64_t>(sizeof(float))) /
         fastest(0.3, read_all);
}

const ops::LinearBackend& backend_named(std::string_view name) {
  const auto backends = ops::linear_backends();
  const auto found = std::find_if(backends.begin(), backends.end(), [&](const auto& one) { return one.name == name; });
  return found == backends.end() ? backends.front() : *found;
}

bool is_attention_product(Part part) { return part == Part::scores || part == Part::blend; }

Bound larger(double by_products, double by_memory) {
  return {std::max(by_products, by_memory), by_memory > by_products};
}

double product_seconds(Part part, const Work& work, const Limits& limits) {
  return static_cast<double>(work.flops) / (is_attention_product(part) ? limits.matmul_rate : limits.linear_rate);
}

}  // namespace

Machine this_machine() {
  return {processor_name(), usable_processors(), std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE)};
}

std::int64_t peak_memory() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

Limits best_of(const Limits& one, const Limits& other) {
  auto best = one;
  best.linear_rate = std::max(one.linear_rate, other.linear_rate);
  best.matmul_rate = std::max(one.matmul_rate, other.matmul_rate);
  best.read_rate = std::max(one.read_rate, other.read_rate);
  return best;
}

Limits measure_limits(std::string_view backend, ops::Precision precision, int threads, std::int64_t bytes) {
  constexpr std::int64_t least_block = std::int64_t{1} << 20U;
  constexpr std::int64_t largest_block = std::int64_t{1} << 28U;
  ops::blas::set_threads(threads);
  Limits limits;
  limits.threads = threads;
  limits.linear_rate = linear_rate(backend_named(backend), precision);
  limits.matmul_rate = matmul_rate();
  limits.read_block = std::clamp(bytes, least_block, largest_block);
  limits.read_rate = read_rate(limits.read_block, threads);
  return limits;
}

Bound bound_of(Part part, const Work& work, const Limits& limits) {
  return larger(product_seconds(part, work, limits), static_cast<double>(work.bytes) / limits.read_rate);
}

Bound bound_of(const PerPart<Work>& work, const Limits& limits) {
  double by_products = 0.0;
  for (const auto part : all_parts) by_products += product_seconds(part, work[part], limits);
  return larger(by_products, static_cast<double>(total(work).bytes) / limits.read_rate);
}

}  // namespace qkv
