#include "qkv/ops/parallel.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

#include <exception>

namespace qkv::ops {

#ifdef _OPENMP

int worker_count() { return omp_get_max_threads(); }

namespace parallel {

void run(std::int64_t count, Workers workers, const void* work, Call call) {
  if (count == 0) return;
  if (omp_get_max_threads() == 1) {
    for (std::int64_t item = 0; item < count; ++item) call(work, item, 0);
    return;
  }
  std::exception_ptr thrown;
  // Also for a single worker: only within such a region does OpenBLAS leave its own threads alone.
#pragma omp parallel
  {
    const auto worker = omp_get_thread_num();
    const auto do_item = [&](std::int64_t item) {
      try {
        call(work, item, worker);
      } catch (...) {
#pragma omp critical(qkv_share_out)
        thrown = std::current_exception();
      }
    };
    if (workers == Workers::one) {
      for (std::int64_t item = 0; worker == 0 && item < count && !thrown; ++item) do_item(item);
    } else if (count == omp_get_num_threads()) {
      do_item(worker);
    } else {
#pragma omp for schedule(dynamic, 1)
      for (std::int64_t item = 0; item < count; ++item) do_item(item);
    }
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace parallel

#else

int worker_count() { return 1; }

namespace parallel {

void run(std::int64_t count, Workers, const void* work, Call call) {
  for (std::int64_t item = 0; item < count; ++item) call(work, item, 0);
}

}  // namespace parallel

#endif

}  // namespace qkv::ops
