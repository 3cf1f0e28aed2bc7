#pragma once

#include <functional>
#include <vector>

#include "qkv/model/model.hpp"
#include "qkv/timing/report.hpp"

namespace qkv {

struct TimingPlan {
  std::vector<Mode> modes{Mode::recompute};
  std::vector<std::int64_t> lengths;  // of the text, each 1 to n_ctx, each once
  std::vector<int> threads;           // each once
  bool breakdown = false;
  MeasureOptions measure;
};

/// Times steps of the plain loop and of the cached one. What is timed is Session::forward, token ids in, logits of the
/// last position out: no text is split into tokens, nothing is drawn. The ids are the same random ones in every row. A
/// cached row keeps all tokens but the last, which it runs again and again, so that both modes at one length come to
/// the same logits. Fills in everything but `build`, `open_seconds`, `threads_asked` and `accuracy`. Throws
/// Error{numbers} when the logits are not finite.
[[nodiscard]] TimingReport time_forward(const Model& model, const TimingPlan& plan);

}  // namespace qkv
