#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "qkv/core/token_id.hpp"
#include "qkv/model/model.hpp"
#include "qkv/model/observer.hpp"
#include "qkv/model/rotary_tables.hpp"
#include "qkv/model/thread_choice.hpp"

namespace qkv {

/// For which of the new tokens logits are wanted. The head is the largest matrix of most small models.
enum class Rows { all, last };

/// One head of one layer, both counted from 0.
struct HeadId {
  std::int64_t layer;
  std::int64_t head;
};

/// Throws Error{input} naming an id that is not in the vocabulary.
void check_ids(const Config& config, std::span<const TokenId> ids);

/// What changes while a model runs: the keys and values of the current sequence, and room for one forward pass.
/// The model must outlive it. Not for use by two threads at once.
class Session {
 public:
  /// `threads` >= 1, or 0 for thread_advice(model), and fewer while another process has the processors, where that
  /// changes no bit. BLAS has one pool for the whole process: each pass sets how many of it are used, so sessions with
  /// different numbers may take turns, but not run at the same time.
  explicit Session(const Model& model, int threads = 0);

  /// Runs new tokens after those already there. Returns logits, [T, V] or [1, V], valid until the next call. Throws
  /// Error{input} for no ids, an id outside the vocabulary, or more than n_ctx tokens in all; then nothing has changed.
  ConstMatrixView forward(std::span<const TokenId> ids, Rows rows = Rows::last, Observer* observer = nullptr);

  /// Keeps the first `length` tokens and forgets the rest. 0 <= length <= length().
  void rewind(std::int64_t length);
  /// How many tokens the keys and values cover.
  [[nodiscard]] std::int64_t length() const { return length_; }
  /// Makes room for `tokens` tokens at once; forward() does it when it must, but then copies what is kept.
  void reserve(std::int64_t tokens);

  /// From now on leaves out what these heads contribute, before W_o. Throws Error{usage} naming a head that is not
  /// there.
  void ablate(std::span<const HeadId> heads);

  [[nodiscard]] const Model& model() const { return model_; }
  /// The most that a pass uses.
  [[nodiscard]] int threads() const { return threads_.most(); }

 private:
  ConstMatrixView run(std::span<const TokenId> ids, Rows rows, Observer* observer);
  void check(std::span<const TokenId> ids) const;
  ConstMatrixView run_again(std::span<const TokenId> ids, Rows rows, Observer* observer);
  void embed(std::span<const TokenId> ids, const Probe& probe, MatrixView x) const;
  ConstMatrixView logits_of(ConstMatrixView x, const Probe& probe, std::int64_t first);
  [[nodiscard]] KeyValues kept(std::int64_t layer) const;

  const Model& model_;
  ThreadChoice threads_;
  std::int64_t length_ = 0;
  std::int64_t capacity_ = 0;
  Buffer keys_;               // [n_layers, capacity, Hkv K]: in one, so that a long text gets huge pages
  Buffer values_;             // the same
  std::vector<TokenId> ids_;  // [length]
  RotaryTables rotary_;
  bool kept_as_long_ = false;                       // the keys were turned as those of a long text
  std::vector<std::vector<std::int64_t>> ablated_;  // per layer
  Scratch scratch_;
  Buffer logits_;  // [rows wanted, V]
};

/// How many threads are worth having: those the process may really use, and one where the matrices are so small that
/// waking a second thread costs more than it brings.
[[nodiscard]] int thread_advice(const Config& config);

}  // namespace qkv
