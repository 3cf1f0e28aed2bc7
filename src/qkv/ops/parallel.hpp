#pragma once

#include <algorithm>
#include <cstdint>

/// Work shared out among the threads that BLAS and oneDNN use as well, so that there is one pool. Results do not depend
/// on how many there are: each item is the work of one thread.
namespace qkv::ops {

/// How many threads share work at present: as many as blas::set_threads() was last told. At least 1.
[[nodiscard]] int worker_count();

enum class Workers { one, all };

namespace parallel {
using Call = void (*)(const void* work, std::int64_t item, int worker);
void run(std::int64_t count, Workers workers, const void* work, Call call);
}  // namespace parallel

/// Calls work(item, worker) once for each item below `count`, by whichever thread is free, or, where there are as many
/// items as threads, each by its own, which may find in its cache what it left there; 0 <= worker < worker_count().
/// With Workers::one the calling thread does all of it, in order. Either way a product of BLAS within takes one thread,
/// and so the same bits. What `work` throws is thrown here.
template <typename Work>
void share_out(std::int64_t count, Workers workers, const Work& work) {
  parallel::run(count, workers, &work, [](const void* context, std::int64_t item, int worker) {
    (*static_cast<const Work*>(context))(item, worker);
  });
}

/// Calls work(first, rows) for runs of rows that make up all `rows` of a matrix `cols` wide; in one piece where it is
/// so small that waking a thread would cost more.
template <typename Work>
void for_runs_of_rows(std::int64_t rows, std::int64_t cols, const Work& work) {
  constexpr std::int64_t worth_sharing = std::int64_t{1} << 15U;  // numbers: about 10 microseconds
  const std::int64_t workers = worker_count();
  if (workers == 1 || rows * cols < worth_sharing) return work(std::int64_t{0}, rows);
  const auto run = (rows + workers - 1) / workers;
  share_out((rows + run - 1) / run, Workers::all,
            [&](std::int64_t item, int) { work(item * run, std::min(run, rows - item * run)); });
}

}  // namespace qkv::ops
