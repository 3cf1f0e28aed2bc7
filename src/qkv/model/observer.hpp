#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "qkv/tensor/matrix.hpp"

namespace qkv {

/// Where a forward pass can be observed. Rows are queries (or positions), in the order of the text.
enum class Place : unsigned {
  embedding = 1U << 0U,      // [T, D] rows of the token embedding, before positions are added
  q = 1U << 1U,              // [T, H K] after rotary positions; head h is columns h K .. (h + 1) K
  k = 1U << 2U,              // [T, Hkv K] after rotary positions
  v = 1U << 3U,              // [T, Hkv K]
  scores = 1U << 4U,         // [rows, S] of one head; only what the row may see means anything
  weights = 1U << 5U,        // [rows, S] of one head; what a row may not see is exactly 0
  head_out = 1U << 6U,       // [T, H K] heads side by side, before W_o
  attn_out = 1U << 7U,       // [T, D] what attention adds to the stream: after W_o, a norm and a scale if there are any
  mlp_out = 1U << 8U,        // [T, D] the same of the MLP
  residual = 1U << 9U,       // [T, D] layer 0: enters block 0; layer i: leaves block i - 1
  logits = 1U << 10U,        // [rows wanted, V]
  attn_in = 1U << 11U,       // [T, D] after the norm: what W_q, W_k and W_v read
  residual_mid = 1U << 12U,  // [T, D] the stream between the two halves of a block
  mlp_in = 1U << 13U,        // [T, D] after the norm: what the MLP reads
  final_norm = 1U << 14U,    // [rows wanted, D] after the last norm: what the head reads
  blend = 1U << 15U,         // [rows, K] of one head: the numbers of head_out as they come, for those who keep time
};

/// "head_out"
[[nodiscard]] std::string_view name_of(Place place);

/// A set of places.
using Places = unsigned;
[[nodiscard]] constexpr Places operator|(Place a, Place b) {
  return static_cast<unsigned>(a) | static_cast<unsigned>(b);
}
[[nodiscard]] constexpr Places operator|(Places a, Place b) { return a | static_cast<unsigned>(b); }
/// All but `blend`, which shows nothing that head_out does not.
inline constexpr Places all_places = (1U << 15U) - 1U;

/// Those within blocks, and the stream that leaves the last one.
inline constexpr Places places_of_blocks =
    (all_places | Place::blend) & ~(Place::embedding | Place::final_norm | Place::logits);

struct Observation {
  Place place;
  std::int64_t layer;  // -1 where there is none
  std::int64_t head;   // -1 where there is none
  std::int64_t first;  // the position in the text of row 0
  ConstMatrixView values;
  std::int64_t window = 0;  // how many keys a query of this layer sees, its own included; 0: all
  int worker = 0;           // which of the threads that share the heads of a layer computed it

  /// The first key that the query of a row of `scores` or `weights` may see.
  [[nodiscard]] std::int64_t first_visible(std::int64_t row) const {
    return window == 0 ? 0 : std::max<std::int64_t>(0, visible(row) - window);
  }
  /// How many cells of a row of `scores` or `weights` the query may see counted from key 0: up to its own position.
  [[nodiscard]] std::int64_t visible(std::int64_t row) const { return first + row + 1; }
};

/// Is shown the numbers of a forward pass as they come up. It cannot change them, and the pass takes the same path
/// with and without it, but for what needs_numbers() says. The views are valid during the call only.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Read once at the start of each forward pass.
  [[nodiscard]] virtual Places wanted() const = 0;
  /// Whether it looks at the numbers. For one that does, heads come one after the other, and the last block is computed
  /// for every row. One that does not, which only takes the time, is called by several threads at once between `v` and
  /// `head_out` of a layer.
  [[nodiscard]] virtual bool needs_numbers() const { return true; }
  virtual void observe(const Observation& observation) = 0;
};

/// What the forward pass calls at each place: one integer test when nobody asked.
class Probe {
 public:
  Probe() = default;
  explicit Probe(Observer* observer) : observer_(observer), wanted_(observer == nullptr ? 0 : observer->wanted()) {}

  [[nodiscard]] Probe in_layer(std::int64_t layer, std::int64_t window = 0) const {
    auto probe = *this;
    probe.layer_ = layer;
    probe.window_ = window;
    return probe;
  }
  [[nodiscard]] Probe by_worker(int worker) const {
    auto probe = *this;
    probe.worker_ = worker;
    return probe;
  }
  /// Whether somebody looks at the numbers of one of these places.
  [[nodiscard]] bool shows(Places places) const { return (wanted_ & places) != 0 && observer_->needs_numbers(); }
  void operator()(Place place, ConstMatrixView values, std::int64_t first, std::int64_t head = -1) const {
    if ((wanted_ & static_cast<unsigned>(place)) != 0)
      observer_->observe({place, layer_, head, first, values, window_, worker_});
  }

 private:
  Observer* observer_ = nullptr;
  Places wanted_ = 0;
  std::int64_t layer_ = -1;
  std::int64_t window_ = 0;
  int worker_ = 0;
};

}  // namespace qkv
