#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "qkv/ops/linear.hpp"
#include "qkv/timing/cost.hpp"

namespace qkv {

/// The machine that a result belongs to, as the operating system tells.
struct Machine {
  std::string processor;    // its name, "unknown" where the system does not say
  int processors = 0;       // cores that this process may use
  std::int64_t memory = 0;  // bytes
};
[[nodiscard]] Machine this_machine();

/// The most memory this process has used so far, in bytes.
[[nodiscard]] std::int64_t peak_memory();

/// What the machine can do at best with so many threads, measured.
struct Limits {
  int threads = 0;
  double linear_rate = 0.0;     // FLOP/s of the backend that multiplies by the learned matrices
  double matmul_rate = 0.0;     // FLOP/s of the products inside attention
  double read_rate = 0.0;       // bytes/s, reading a block of memory again and again
  std::int64_t read_block = 0;  // its size
};

/// Takes about a second. The rates of products are the best that square and oblong matrices reach which are large
/// enough to be worth all threads and small enough to stay in a cache; the block is as large as what a pass reads
/// (`bytes`), up to 256 MB, so that a model that fits into a cache is held against the cache. `backend`: by name; the
/// preferred one where there is none of that name. It must offer the precision.
[[nodiscard]] Limits measure_limits(std::string_view backend, ops::Precision precision, int threads,
                                    std::int64_t bytes);

/// Of two measurements of the same limits, the better one of each.
[[nodiscard]] Limits best_of(const Limits& one, const Limits& other);

/// The least time that the machine needs for the work, and which limit says so.
struct Bound {
  double seconds = 0.0;
  bool by_memory = false;  // else by the products
};
[[nodiscard]] Bound bound_of(Part part, const Work& work, const Limits& limits);
/// Of a whole pass: it must read all its bytes and do all its products, at best both at once.
[[nodiscard]] Bound bound_of(const PerPart<Work>& work, const Limits& limits);

}  // namespace qkv
