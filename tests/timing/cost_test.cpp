#include "qkv/timing/cost.hpp"

#include <algorithm>
#include <filesystem>
#include <string>

#include "qkv/model/family.hpp"
#include "qkv/model/model_files.hpp"
#include "qkv/model/shapes.hpp"
#include "support/catch.hpp"
#include "support/tiny_model.hpp"

namespace qkv::test {
namespace {

Config shape(std::string_view name) {
  for (const auto& known : named_shapes())
    if (known.name == name) {
      const JsonReader reader(std::string(name), parse_json(known.config, "shape"));
      return read_config(find_family(reader), reader);
    }
  FAIL("no such shape");
  return {};
}

/// A model in whose blocks nothing is learned but matrices: one layer, D 8, two heads of 4, F 16.
Config bare() {
  Config config;
  config.n_layers = 1;
  config.d_model = 8;
  config.n_vocab = 32;
  config.n_ctx = 64;
  config.norm.gain = false;
  config.attention.n_heads = 2;
  config.attention.n_kv_heads = 1;
  config.attention.head_dim = 4;
  config.mlp.d_ff = 16;
  return config;
}

/// By how much more work `part` is with what `change` adds to bare(), for three tokens after five.
template <typename Change>
Work added(Part part, Change change) {
  auto config = bare();
  config.n_layers = 2;
  const auto before = count_work(config, {5, 3});
  change(config);
  const auto after = count_work(config, {5, 3});
  for (const auto other : all_parts)
    if (other != part) {
      CAPTURE(name_of(other));
      CHECK(after[other].flops == before[other].flops);
      CHECK(after[other].bytes == before[other].bytes);
    }
  return {after[part].flops - before[part].flops, after[part].bytes - before[part].bytes};
}

/// How many learned numbers a pass over two tokens reads: all, but of the embeddings only the rows of the two.
std::int64_t numbers_read(const ModelFiles& files) {
  std::int64_t numbers = 0;
  for (const auto& asked : files.asked)
    if (std::count(files.ignored.begin(), files.ignored.end(), asked.name) == 0)
      numbers += element_count(asked.shape).value();
  const auto& config = files.config;
  if (!config.head.tied) numbers -= config.n_vocab * config.token_width();
  numbers += 2 * config.token_width();
  if (files.weights.positions)
    numbers += 2 * config.d_model - element_count(files.weights.positions->tensor->shape).value();
  return numbers;
}

void check_flops(const PerPart<Work>& work, const PerPart<std::int64_t>& expected) {
  for (const auto part : all_parts) {
    CAPTURE(name_of(part));
    CHECK(work[part].flops == expected[part]);
  }
}

}  // namespace

// GPT-2 124M by hand: 12 layers, 12 heads of 64, D 768, F 3072, V 50257, biases everywhere, tanh GELU, tied head. The
// products of one layer, for one row: W_q, W_k, W_v, W_o 2 * 768 * 768 + 768 = 1,180,416 each; W_in 2 * 768 * 3072 +
// 3072 = 4,721,664; GELU 8 * 3072 = 24,576; W_out 2 * 3072 * 768 + 768 = 4,719,360: an MLP of 9,465,600.

TEST_CASE("FLOPs of GPT-2 124M for one token are those counted by hand", "[timing]") {
  PerPart<std::int64_t> hand;
  hand[Part::norms] = 25 * 768 * 7;      // two a layer and the last
  hand[Part::qkv] = 12 * 3 * 1'180'416;  // 42,494,976
  hand[Part::scores] = 12 * 12 * 129;    // one cell a head: 64 products, 64 sums with the scale's
  hand[Part::softmax] = 12 * 12 * 4;
  hand[Part::blend] = 12 * 12 * 128;
  hand[Part::w_o] = 12 * 1'180'416;
  hand[Part::mlp] = 12 * 9'465'600;       // 113,587,200
  hand[Part::head] = 2 * 768 * 50'257;    // 77,194,752
  hand[Part::rest] = 768 + 2 * 12 * 768;  // positions, two additions a layer
  const auto work = count_work(shape("gpt2"), {0, 1});
  check_flops(work, hand);
  CHECK(total(work).flops == 247'633'104);
}

TEST_CASE("FLOPs of GPT-2 124M for 64 and 1024 tokens are those counted by hand", "[timing]") {
  PerPart<std::int64_t> hand;
  // 11 layers of 64 rows; in the last one 64 rows of norm, keys and values, and one row of everything else: 705 rows.
  hand[Part::norms] = (11 * 2 * 64 + 64 + 1 + 1) * 768 * 7;  // the norm before the head sees the last row only
  hand[Part::qkv] = 64 * 42'494'976LL - 63 * 1'180'416LL;
  hand[Part::scores] = 12LL * (11 * 2'080 + 64) * 129;  // 1 + 2 + .. + 64 = 2,080 cells a head, 64 in the last row
  hand[Part::softmax] = 12LL * (11 * 2'080 + 64) * 4;
  hand[Part::blend] = 12LL * (11 * 2'080 + 64) * 128;
  hand[Part::w_o] = 705 * 1'180'416LL;
  hand[Part::mlp] = 705 * 9'465'600LL;
  hand[Part::head] = 77'194'752;
  hand[Part::rest] = 64 * 768 + 705 * 2 * 768;
  check_flops(count_work(shape("gpt2"), {0, 64}), hand);
  CHECK(total(count_work(shape("gpt2"), {0, 64})).flops == 10'308'865'152);

  const auto long_text = count_work(shape("gpt2"), {0, 1024});
  CHECK(long_text[Part::scores].flops == 12LL * (11 * 524'800 + 1024) * 129);  // 1024 * 1025 / 2 cells a head
  CHECK(long_text[Part::mlp].flops == (11 * 1024 + 1) * 9'465'600LL);
  CHECK(total(long_text).flops == 180'540'187'392);
}

TEST_CASE("a token after kept ones costs one row, and cells for every key", "[timing]") {
  const auto work = count_work(shape("gpt2"), {1023, 1});
  CHECK(work[Part::qkv].flops == 42'494'976);
  CHECK(work[Part::scores].flops == 144LL * 1'024 * 129);
  CHECK(work[Part::blend].flops == 144LL * 1'024 * 128);
  CHECK(total(work).flops == 286'081'536);
  // Two new tokens after three kept ones see 4 and 5 keys.
  CHECK(count_work(shape("gpt2"), {3, 2})[Part::softmax].flops == 12 * (11 * 9 + 5) * 4);
}

TEST_CASE("bytes are every learned number once, rows of the embedding, and kept keys and values", "[timing]") {
  const auto config = shape("gpt2");
  const auto work = count_work(config, {15, 1});
  CHECK(work[Part::head].bytes == 50'257LL * 768 * 4);
  CHECK(work[Part::w_o].bytes == 12LL * (768 * 768 + 768) * 4);
  CHECK(work[Part::mlp].bytes == 12LL * (2 * 768 * 3072 + 3072 + 768) * 4);
  CHECK(work[Part::norms].bytes == 25 * 2 * 768 * 4);
  CHECK(work[Part::qkv].bytes == 12LL * (3 * (768 * 768 + 768) + 2 * 768) * 4);  // the new key and value too
  CHECK(work[Part::scores].bytes == 12LL * 15 * 768 * 4);
  CHECK(work[Part::softmax].bytes == 0);
  CHECK(work[Part::blend].bytes == 12LL * 15 * 768 * 4);
  CHECK(work[Part::rest].bytes == 2 * 768 * 4);
  // All learned numbers but the rows of the embedding and the positions that no token asks for.
  const auto all = total(count_work(config, {0, 1})).bytes - 12LL * 2 * 768 * 4;
  CHECK(all == (config.parameter_count() - 1024 * 768 + 768 + 768) * 4);
}

TEST_CASE("half the bytes a weight halve what the products read and nothing else", "[timing]") {
  const auto full = count_work(shape("gpt2"), {0, 1});
  const auto half = count_work(shape("gpt2"), {0, 1}, 2);
  CHECK(half[Part::head].bytes * 2 == full[Part::head].bytes);
  CHECK(half[Part::norms].bytes == full[Part::norms].bytes);
  CHECK(full[Part::w_o].bytes - half[Part::w_o].bytes == 12LL * 768 * 768 * 2);
  CHECK(total(half).flops == total(full).flops);
}

TEST_CASE("grouped heads, rotary positions, gates and RMS norms are counted as they are", "[timing]") {
  // SmolLM2 135M: 30 layers, 9 heads of 64 with 3 key/value heads, D 576, F 1536, V 49152, no biases.
  auto config = shape("smollm2-135m");
  const auto work = count_work(config, {0, 2});
  // Two tokens: in the last layer one of them has a query, and goes on from there.
  CHECK(work[Part::norms].flops == (2 * 29 * 2 + 2 + 1 + 1) * 576 * 4);
  const auto query = 2LL * 576 * 576 + 9 * 32 * 6;              // 9 heads turn 32 pairs each
  const auto key_and_value = 2 * 2LL * 576 * 192 + 3 * 32 * 6;  // 3 key/value heads, of which the keys are turned
  CHECK(work[Part::qkv].flops == 59 * query + 60 * key_and_value);
  CHECK(work[Part::scores].flops == 9LL * (29 * 3 + 2) * 129);
  CHECK(work[Part::mlp].flops == 59LL * (3 * 2 * 576 * 1536 + 1536 + 3 * 1536));  // the gate's product, SiLU
  CHECK(work[Part::rest].flops == 59 * 2 * 576);
  config.residual_scale = 0.5;  // of both additions
  CHECK(count_work(config, {0, 2})[Part::rest].flops == 59 * 4 * 576);
}

TEST_CASE("bytes are those of the learned numbers in the files, whatever the model", "[timing]") {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(QKV_TEST_DATA "/models")) {
    INFO(entry.path().string());
    const auto files = open_model_files(entry.path());
    const auto& config = files.config;
    const auto made = config.n_layers * 2 * 2 * config.attention.kv_width();  // keys and values of two tokens
    CHECK(total(count_work(config, {0, 2})).bytes == 4 * (numbers_read(files) + made));
    ++count;
  }
  CHECK(count > 50);
}

TEST_CASE("a norm counts its gain and its bias only where it has them", "[timing]") {
  auto config = bare();  // three norms of one token
  const auto plain = count_work(config, {0, 1})[Part::norms];
  CHECK(plain.flops == 3 * 8 * 5);
  CHECK(plain.bytes == 0);
  config.norm.gain = true;
  CHECK(count_work(config, {0, 1})[Part::norms].flops == 3 * 8 * 7);
  CHECK(count_work(config, {0, 1})[Part::norms].bytes == 3 * 8 * 2 * 4);
  config.norm.bias = false;
  CHECK(count_work(config, {0, 1})[Part::norms].flops == 3 * 8 * 6);
  config.norm.kind = NormConfig::Kind::rms;
  CHECK(count_work(config, {0, 1})[Part::norms].flops == 3 * 8 * 4);
  config.norm.gain = false;
  CHECK(count_work(config, {0, 1})[Part::norms].flops == 3 * 8 * 3);
}

TEST_CASE("norms of queries and keys are counted, one gain for all heads or one for each", "[timing]") {
  using Kind = QkNormConfig::Kind;
  const auto with = [](Kind kind) {
    return added(Part::qkv, [&](Config& config) {
      config.attention.qk_norm.kind = kind;
      config.attention.qk_norm.norm.kind = NormConfig::Kind::rms;
      config.attention.qk_norm.norm.bias = false;
    });
  };
  // Rows of queries: 3 in the first layer, 1 in the last; of keys 3 in both. Queries are 8 wide, keys 4.
  for (const auto kind : {Kind::head, Kind::own_head, Kind::whole}) CHECK(with(kind).flops == 4 * (4 * 8 + 6 * 4));
  CHECK(with(Kind::head).bytes == 2 * 2 * 4 * 4);
  CHECK(with(Kind::own_head).bytes == 2 * (8 + 4) * 4);
  CHECK(with(Kind::whole).bytes == 2 * (8 + 4) * 4);
}

TEST_CASE("linear biases and soft caps are counted, clipping compares only", "[timing]") {
  const std::int64_t cells = 2 * (6 + 7 + 8 + 8);  // two heads; in the last layer only the last token asks
  CHECK(added(Part::scores, [](Config& config) { config.position.kind = PositionConfig::Kind::alibi; }).flops ==
        2 * cells);
  CHECK(added(Part::scores, [](Config& config) { config.attention.soft_cap = 50.0; }).flops == 3 * cells);
  CHECK(added(Part::head, [](Config& config) { config.head.soft_cap = 30.0; }).flops == 3 * 32);
  CHECK(added(Part::qkv, [](Config& config) { config.attention.clip = 8.0; }).flops == 0);
}

TEST_CASE("each layer turns as many pairs as its own rotary positions do", "[timing]") {
  const auto rotary = [](Config& config) {
    config.position.kind = PositionConfig::Kind::rotary;
    config.position.rotary.n_rotated = 4;
    config.position.second_rotary = RotaryConfig{};
    config.position.second_rotary->n_rotated = 2;
  };
  const auto with = [&](const std::vector<int>& of_layer) {
    return added(Part::qkv,
                 [&](Config& config) {
                   rotary(config);
                   config.position.rotary_of_layer = of_layer;
                 })
        .flops;
  };
  const std::int64_t first = 6 * (3 * 2 + 3);  // one pair of every head that is turned: two of a query, one of a key
  const std::int64_t last = 6 * (2 + 3);
  CHECK(with({}) == 2 * first + 2 * last);
  CHECK(with({0, 1}) == 2 * first + last);
  CHECK(with({1, -1}) == first);
}

}  // namespace qkv::test
