#include "qkv/model/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "qkv/core/error.hpp"
#include "qkv/core/processors.hpp"
#include "qkv/ops/backends/blas.hpp"
#include "qkv/ops/elementwise.hpp"

namespace qkv {

int thread_advice(const Config& config) {
  // Measured with `qkv generate -n 100` on random models of six layers, tokens/s with one and two threads on two free
  // cores, plain loop and --cache: d_model 128: 340 and 300, 8200 and 5300; 192: 160 and 180, 1700 and 2800; 256: 82
  // and 131, 710 and 1800. Below 256 little is won, and with another process on one of the cores it is ten times
  // slower.
  return is_narrow(config) ? 1 : usable_processors();
}

namespace {

/// Of our own advice as many as there can be; a number that somebody asked for must be there.
int granted(int asked, const Config& config) {
  const auto threads = ops::blas::set_threads(asked > 0 ? asked : thread_advice(config));
  if (threads < asked)
    throw Error(ErrorCode::usage,
                fmt::format("threads: expected at most {}, which OpenBLAS is built for, found {}", threads, asked));
  return threads;
}

}  // namespace

void check_ids(const Config& config, std::span<const TokenId> ids) {
  for (const auto id : ids)
    if (id < 0 || id >= config.n_vocab)
      throw Error(ErrorCode::input,
                  fmt::format("input: expected token ids from 0 to {}, found {}", config.n_vocab - 1, id));
}

Session::Session(const Model& model, int threads)
    : model_(model),
      threads_(granted(threads, model.config()), threads == 0 && model.rows_stand_alone()),
      rotary_(model.config().position),
      ablated_(static_cast<std::size_t>(model.config().n_layers)) {}

ConstMatrixView Session::forward(std::span<const TokenId> ids, Rows rows, Observer* observer) {
  check(ids);
  ops::blas::set_threads(threads_.threads());
  if (!threads_.adapts()) return run(ids, rows, observer);
  const auto begun = std::chrono::steady_clock::now();
  const auto processor_begun = processor_seconds();
  const auto logits = run(ids, rows, observer);
  const auto end = std::chrono::steady_clock::now();
  threads_.passed({end, std::chrono::duration<double>(end - begun).count(), processor_seconds() - processor_begun,
                   static_cast<std::int64_t>(ids.size())});
  return logits;
}

ConstMatrixView Session::run(std::span<const TokenId> ids, Rows rows, Observer* observer) {
  const auto& config = model_.config();
  const auto count = static_cast<std::int64_t>(ids.size());
  const bool long_text = rotary_.is_long(length_ + count);
  if (length_ > 0 && long_text != kept_as_long_) return run_again(ids, rows, observer);
  reserve(length_ + count);
  const Probe probe(observer);
  Pass pass{length_, count, 0, nullptr, is_narrow(config), {}};

  const auto x = scratch_.x.view(count, config.d_model);  // the residual stream
  embed(ids, probe, x);
  for (std::int64_t layer = 0; layer < config.n_layers; ++layer) {
    const auto& block = model_.blocks()[static_cast<std::size_t>(layer)];
    const auto in_layer = probe.in_layer(layer, block.attention.window);
    in_layer(Place::residual, x, pass.past);
    pass.rotary = rotary_.find(block.attention.rotary, long_text);
    pass.ablated = ablated_[static_cast<std::size_t>(layer)];
    if (layer + 1 == config.n_layers && rows == Rows::last && !probe.shows(places_of_blocks))
      pass.needed = block.first_for_last(count);
    block.apply(x, pass, kept(layer), scratch_, in_layer);
  }
  probe.in_layer(config.n_layers)(Place::residual, x, pass.past);

  const auto wanted = rows == Rows::all ? count : 1;
  const auto logits = logits_of(x.rows_window(count - wanted, wanted), probe, pass.past + count - wanted);
  kept_as_long_ = long_text;
  length_ += count;
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  return logits;
}

/// x [rows wanted, D], whose first row stands at position `first` -> logits [rows wanted, V].
ConstMatrixView Session::logits_of(ConstMatrixView x, const Probe& probe, std::int64_t first) {
  const auto& config = model_.config();
  auto normed = x;
  if (model_.final_norm()) {
    const auto room = scratch_.normed.view(x.rows, config.d_model);
    model_.final_norm()->apply(x, room);
    normed = room;
  }
  probe(Place::final_norm, normed, first);
  if (model_.embed_out()) {
    const auto room = scratch_.token_rows.view(x.rows, config.embedding_width);
    model_.embed_out()->apply(normed, room);
    normed = room;
  }
  if (logits_.size() < x.rows * config.n_vocab) logits_ = Buffer(x.rows * config.n_vocab);
  const auto logits = logits_.view(x.rows, config.n_vocab);
  model_.head().apply(normed, logits);
  if (config.logit_scale != 1.0) ops::scale(static_cast<float>(config.logit_scale), logits);
  if (config.head.soft_cap > 0.0) ops::soft_cap(static_cast<float>(config.head.soft_cap), logits);
  probe(Place::logits, logits, first);
  return logits;
}

/// The text has become long (or short again), and what was kept is of no use: all of it runs again.
ConstMatrixView Session::run_again(std::span<const TokenId> ids, Rows rows, Observer* observer) {
  auto all = ids_;
  all.insert(all.end(), ids.begin(), ids.end());
  rewind(0);
  const auto logits = run(all, rows, observer);
  const auto wanted = std::min(logits.rows, static_cast<std::int64_t>(ids.size()));
  return logits.rows_window(logits.rows - wanted, wanted);
}

void Session::check(std::span<const TokenId> ids) const {
  const auto& config = model_.config();
  if (ids.empty()) throw Error(ErrorCode::input, "input: expected at least one token, found none");
  check_ids(config, ids);
  const auto count = static_cast<std::int64_t>(ids.size());
  if (count > config.n_ctx - length_)
    throw Error(ErrorCode::input,
                fmt::format("input: expected at most {} tokens in all (the model's context), found {}", config.n_ctx,
                            length_ + count));
}

void Session::embed(std::span<const TokenId> ids, const Probe& probe, MatrixView x) const {
  const auto& config = model_.config();
  const auto rows = model_.embed_in() ? scratch_.token_rows.view(x.rows, config.embedding_width) : x;
  for (std::int64_t t = 0; t < x.rows; ++t) {
    const auto token = model_.tokens().row(ids[static_cast<std::size_t>(t)]);
    std::copy(token.begin(), token.end(), rows.row(t).begin());
  }
  if (model_.embed_in()) model_.embed_in()->apply(rows, x);
  if (config.embedding_scale != 1.0) ops::scale(static_cast<float>(config.embedding_scale), x);
  probe(Place::embedding, x, length_);
  if (config.position.kind == PositionConfig::Kind::learned)
    ops::add(model_.positions().rows_window(length_, x.rows), x);
  if (model_.embedding_norm()) model_.embedding_norm()->apply(x, x);
}

KeyValues Session::kept(std::int64_t layer) const {
  const auto& config = model_.config();
  const auto of_layer = [&](const Buffer& all) {
    return all.view(config.n_layers * capacity_, config.attention.kv_width()).rows_window(layer * capacity_, capacity_);
  };
  return {of_layer(keys_), of_layer(values_)};
}

void Session::ablate(std::span<const HeadId> heads) {
  const auto& config = model_.config();
  for (const auto& [layer, head] : heads) {
    if (layer < 0 || layer >= config.n_layers || head < 0 || head >= config.attention.n_heads)
      throw Error(ErrorCode::usage, fmt::format("ablate: expected layers 0 to {} and heads 0 to {}, found {}:{}",
                                                config.n_layers - 1, config.attention.n_heads - 1, layer, head));
    ablated_[static_cast<std::size_t>(layer)].push_back(head);
  }
}

void Session::rewind(std::int64_t length) {
  length_ = std::clamp<std::int64_t>(length, 0, length_);
  ids_.resize(static_cast<std::size_t>(length_));
}

void Session::reserve(std::int64_t tokens) {
  if (tokens <= capacity_) return;
  const auto& config = model_.config();
  const auto wanted = std::min(config.n_ctx, std::max(tokens, 2 * capacity_));
  const auto capacity = (wanted + narrow_block - 1) / narrow_block * narrow_block;  // the last block may be filled up
  const auto width = config.attention.kv_width();
  const auto grow = [&](Buffer& buffer) {
    Buffer larger(config.n_layers * capacity * width);
    for (std::int64_t layer = 0; layer < config.n_layers; ++layer) {
      const auto* from = buffer.data() + layer * capacity_ * width;
      auto* to = larger.data() + layer * capacity * width;
      auto* end = std::copy_n(from, length_ * width, to);
      std::fill(end, to + capacity * width, 0.0F);  // what fills a block up is finite
    }
    buffer = std::move(larger);
  };
  grow(keys_);
  grow(values_);
  scratch_ = Scratch(config, capacity, threads_.most());
  ops::clear(scratch_.q.view(capacity, config.attention.q_width()));
  rotary_.extend(capacity);
  capacity_ = capacity;
}

}  // namespace qkv
