// Models in GGUF files: the same as in their families' own files, and refused where something is not understood.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "qkv/io/formats/gguf.hpp"
#include "qkv/model/model_files.hpp"
#include "qkv/model/session.hpp"
#include "support/arrays.hpp"
#include "support/catch.hpp"
#include "support/gguf_file.hpp"
#include "support/loaded.hpp"
#include "support/reference.hpp"
#include "support/refused.hpp"

namespace qkv::test {
namespace {

namespace fs = std::filesystem;

Model load(const TinyGguf& gguf, const std::vector<std::string>& ignored_keys = {}) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "x.gguf";
  write_file(path, gguf.bytes());
  LoadOptions options;
  options.ignored_keys = ignored_keys;
  return Model::load(path, options);
}

Model load_published(const TinyModel& model) {
  const TemporaryDirectory directory;
  write_hugging_face(model, directory.path());
  return Model::load(directory.path());
}

std::vector<float> logits_of(const Model& model, const std::vector<TokenId>& ids) {
  Session session(model);
  return copied(session.forward(ids, Rows::all));
}

void refuse(TinyGguf gguf, const std::function<void(TinyGguf&)>& damage, std::vector<std::string> parts) {
  damage(gguf);
  parts.emplace_back("x.gguf");
  check_refused(
      ErrorCode::model, [&] { (void)load(gguf); }, parts);
}
void llama_refused(const std::function<void(TinyGguf&)>& damage, const std::vector<std::string>& parts) {
  refuse(tiny_llama_gguf(), damage, parts);
}

/// Puts another value in place of the one under this key.
template <typename Value>
std::function<void(TinyGguf&)> set(const std::string& key, Value value) {
  return [=](TinyGguf& gguf) {
    const auto had = gguf.keys.size();
    if constexpr (std::is_same_v<Value, const char*>)
      gguf.text(key, value);
    else
      gguf.number(key, value);
    for (std::size_t i = 0; i < had; ++i)
      if (gguf.keys[i].first == key) {
        gguf.keys[i] = gguf.keys.back();
        gguf.keys.pop_back();
        return;
      }
  };
}
/// One block of a family whose W_q, W_k and W_v stand together, sorted apart in GGUF. In f16, over several pages.
TinyGguf grouped_gguf() {
  constexpr std::int64_t width = 64;
  TinyGguf gguf;
  gguf.text("general.architecture", "bloom");
  for (const auto& [key, value] :
       {std::pair("block_count", 1U), std::pair("embedding_length", 64U), std::pair("attention.head_count", 4U),
        std::pair("context_length", 16U), std::pair("feed_forward_length", 256U)})
    gguf.number(std::string("bloom.") + key, value);
  gguf.number("bloom.attention.layer_norm_epsilon", 1e-5F);
  const auto add = [&](const std::string& name, const Shape& shape) {
    std::string numbers;
    for (std::int64_t i = 0; i < *element_count(shape); ++i) numbers += raw(static_cast<std::uint16_t>(i % 15000));
    gguf.tensors.push_back({name, shape, 1, numbers});
  };
  add("blk.0.attn_qkv.weight", {3 * width, width});
  add("blk.0.attn_qkv.bias", {3 * width});
  add("token_embd.weight", {8, width});
  add("blk.0.attn_output.weight", {width, width});
  add("blk.0.attn_output.bias", {width});
  add("blk.0.ffn_up.weight", {4 * width, width});
  add("blk.0.ffn_up.bias", {4 * width});
  add("blk.0.ffn_down.weight", {width, 4 * width});
  add("blk.0.ffn_down.bias", {width});
  for (const auto* norm : {"token_embd_norm", "blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"})
    for (const auto* part : {".weight", ".bias"}) add(std::string(norm) + part, {width});
  return gguf;
}

std::function<void(TinyGguf&)> take_away(const std::string& key) {
  return [=](TinyGguf& gguf) { gguf.remove(key); };
}

}  // namespace

TEST_CASE("a GGUF file gives the logits of its family's own files", "[model]") {
  const auto check = [](const TinyModel& published, const TinyGguf& gguf) {
    const auto one = load_published(published);
    const auto other = load(gguf);
    CHECK(other.format() == "GGUF");
    CHECK(one.config().family == other.config().family);
    CHECK(one.config().parameter_count() == other.config().parameter_count());
    const auto ids = random_ids(one.config(), 14);
    const auto expected = logits_of(one, ids);
    CHECK(largest_difference(logits_of(other, ids), expected) < 1e-5);
    CHECK(largest_difference(expected, std::vector<float>(expected.size())) > 0.1);
  };
  check(tiny_llama_two_heads(), tiny_llama_gguf());
  check(tiny_gpt2(), tiny_gpt2_gguf());
}

TEST_CASE("tensors keep the names of the file", "[model]") {
  const auto model = load(tiny_llama_gguf());
  std::set<std::string> names;
  for (const auto& tensor : model.tensors()) names.insert(tensor.name);
  CHECK(names.count("blk.1.attn_q.weight") == 1);
  CHECK(model.name() == "tiny");
  llama_refused([](TinyGguf& g) { g.tensor("blk.1.attn_q.weight").name = "blk.1.attn_Q.weight"; },
                {"tensor 'blk.1.attn_q.weight': expected shape [8, 8], found nothing",
                 "tensor 'blk.1.attn_Q.weight': expected no such tensor"});
  llama_refused(
      [](TinyGguf& g) {
        g.tensor("blk.1.attn_q.weight").shape = {4, 16};
      },
      {"tensor 'blk.1.attn_q.weight': expected shape [8, 8], found [4, 16]"});
}

TEST_CASE("tensors that were put in another order are there still after they were let go", "[model]") {
  const auto gguf = grouped_gguf();
  const auto& stored = gguf.tensors.front().bytes;
  const TemporaryDirectory directory;
  const auto path = directory.path() / "x.gguf";
  write_file(path, gguf.bytes());
  const auto files = open_model_files(path);
  const auto* tensor = find_tensor(*files.source, "blk.0.attn_qkv.weight");
  REQUIRE(tensor != nullptr);
  REQUIRE(tensor->bytes.size() == stored.size());
  const std::vector<std::byte> before(tensor->bytes.begin(), tensor->bytes.end());
  CHECK(std::memcmp(before.data(), stored.data(), stored.size()) != 0);
  files.source->release(*tensor);
  CHECK(std::equal(before.begin(), before.end(), tensor->bytes.begin()));
}

TEST_CASE("a directory that holds one GGUF file and no config.json is that model", "[model]") {
  const TemporaryDirectory directory;
  write_file(directory.path() / "x.gguf", tiny_llama_gguf().bytes());
  write_file(directory.path() / "README.md", "x");
  CHECK(Model::load(directory.path()).format() == "GGUF");
  write_file(directory.path() / "y.gguf", tiny_llama_gguf().bytes());
  check_refused(ErrorCode::model, [&] { (void)Model::load(directory.path()); }, {"config.json"});
}

TEST_CASE("a file that has lost its name is refused where the model would be called by it", "[model]") {
  auto gguf = tiny_llama_gguf();
  gguf.remove("general.name");
  const TemporaryDirectory directory;
  const auto path = directory.path() / "x.gguf";
  write_file(path, gguf.bytes());
  const int file = ::open(path.c_str(), O_RDONLY);
  REQUIRE(file >= 0);
  fs::remove(path);
  const auto still_open = fmt::format("/proc/self/fd/{}", file);
  check_refused(ErrorCode::model, [&] { (void)Model::load(still_open); }, {still_open, "expected", "name"});
  ::close(file);
}

TEST_CASE("a tensor that is missing from a GGUF file is named", "[model]") {
  const auto whole = tiny_llama_gguf();
  for (std::size_t i = 0; i < whole.tensors.size(); ++i) {
    const auto& name = whole.tensors[i].name;
    if (name == "output.weight") continue;  // then the head is tied
    llama_refused([&](TinyGguf& g) { g.tensors.erase(g.tensors.begin() + static_cast<std::ptrdiff_t>(i)); },
                  {"tensor '" + name + "'", "found nothing"});
  }
}

TEST_CASE("the head is tied where there is none of its own", "[model]") {
  auto gguf = tiny_llama_gguf();
  CHECK_FALSE(load(gguf).config().head.tied);
  gguf.tensors.pop_back();
  CHECK(load(gguf).config().head.tied);
  CHECK(load(tiny_gpt2_gguf()).config().head.tied);
}

TEST_CASE("biases are told by the tensors that are there", "[model]") {
  auto gguf = tiny_llama_gguf();
  for (const auto* block : {"blk.0.", "blk.1."})
    for (const auto& [part, count] : {std::pair{"attn_q", 8}, {"attn_k", 4}, {"attn_v", 4}, {"attn_output", 8}})
      gguf.tensors.push_back({fmt::format("{}{}.bias", block, part), {count}, 0, random_tensor("x", {count}, 9).bytes});
  const auto attention = load(gguf).config().attention;
  CHECK(attention.bias_q);
  CHECK(attention.bias_o);
  gguf.tensors.pop_back();
  refuse(gguf, [](TinyGguf&) {}, {"tensor 'blk.1.attn_output.bias'", "found nothing"});
}

TEST_CASE("metadata that is missing or senseless is refused by its own key", "[model]") {
  for (const auto* key : {"llama.block_count", "llama.embedding_length", "llama.attention.head_count",
                          "llama.feed_forward_length", "general.architecture"})
    llama_refused(take_away(key), {fmt::format("key '{}'", key), "found nothing"});
  for (const auto* key : {"llama.block_count", "llama.embedding_length", "llama.attention.head_count",
                          "llama.attention.head_count_kv", "llama.context_length", "llama.feed_forward_length"})
    for (const std::uint32_t value : {0U, 0xFFFFFFFFU})
      llama_refused(set(key, value), {fmt::format("key '{}'", key), "expected an integer from 1 to"});
  llama_refused(set("llama.attention.layer_norm_rms_epsilon", -1.0F),
                {"key 'llama.attention.layer_norm_rms_epsilon'", "found -1"});
  llama_refused(set("llama.block_count", "two"), {"key 'llama.block_count'", "found \"two\""});
  llama_refused(set("general.architecture", "mamba"), {"key 'general.architecture'", "llama", "found \"mamba\""});
  llama_refused(set("llama.vocab_size", 12U), {"key 'llama.vocab_size'", "expected 11", "found 12"});
}

TEST_CASE("metadata that changes the arithmetic and is not understood is refused by name", "[model]") {
  for (const auto* key :
       {"llama.expert_count", "llama.expert_used_count", "llama.attn_logit_softcapping", "llama.whatever", "other.key"})
    llama_refused(set(key, 8U), {fmt::format("key '{}'", key), "is not understood", "--ignore-key"});
  llama_refused(set("llama.rope.scaling.type", "longrope"),
                {"key 'llama.rope.scaling.type'", "none, linear, yarn", "longrope"});
  llama_refused(set("llama.rope.dimension_count", 2U), {"key 'llama.rope.dimension_count'", "whole heads of 4"});
  llama_refused(set("llama.attention.value_length", 2U), {"key 'llama.attention.value_length'", "4, as for keys"});
  llama_refused(set("general.type", "adapter"), {"key 'general.type'", "\"model\""});
  llama_refused(set("split.count", 3U), {"key 'split.count'", "found 3"});
  llama_refused(set("general.quantization_version", 1U), {"key 'general.quantization_version'", "expected 2"});
  auto gguf = tiny_llama_gguf();
  gguf.number("llama.whatever", 8U);
  CHECK_NOTHROW(load(gguf, {"llama.whatever"}));
}

TEST_CASE("metadata that changes nothing is let through", "[model]") {
  auto gguf = tiny_llama_gguf();
  gguf.number("llama.expert_count", 0U);
  gguf.number("llama.rope.dimension_count", 4U);
  gguf.number("llama.vocab_size", 11U);
  gguf.text("llama.rope.scaling.type", "none");
  gguf.number("general.quantization_version", 2U);
  gguf.number("general.file_type", 0U);
  gguf.text("tokenizer.ggml.model", "no_vocab");
  gguf.text("quantize.imatrix.file", "x");
  CHECK_NOTHROW(load(gguf));
}

TEST_CASE("begin and end tokens come from the metadata", "[model]") {
  auto gguf = tiny_llama_gguf();
  gguf.number("tokenizer.ggml.bos_token_id", 3U);
  gguf.number("tokenizer.ggml.eos_token_id", 4U);
  gguf.number("tokenizer.ggml.eot_token_id", 5U);
  gguf.number("tokenizer.ggml.eom_token_id", 99U);  // not in the vocabulary
  const auto config = load(gguf).config();
  CHECK(config.bos == 3);
  CHECK(config.eos == std::vector<TokenId>{4, 5});
}

TEST_CASE("rotary rates are stretched as keys or the tensor of factors say", "[model]") {
  auto linear = tiny_llama_gguf();
  linear.text("llama.rope.scaling.type", "linear");
  linear.number("llama.rope.scaling.factor", 4.0F);
  CHECK(load(linear).config().position.rotary.scaling.factor == 4.0);
  auto old = tiny_llama_gguf();
  old.number("llama.rope.scale_linear", 2.0F);
  CHECK(load(old).config().position.rotary.scaling.factor == 2.0);

  auto yarn = tiny_llama_gguf();
  yarn.text("llama.rope.scaling.type", "yarn");
  yarn.number("llama.rope.scaling.factor", 4.0F);
  yarn.number("llama.rope.scaling.original_context_length", 8U);
  const auto scaling = load(yarn).config().position.rotary.scaling;
  CHECK(scaling.kind == RotaryScaling::Kind::yarn);
  CHECK(scaling.original_n_ctx == 8.0);

  // Heads of 4 have two pairs, whose rates are 1 and 0.01 before they are divided.
  auto factors = tiny_llama_gguf();
  factors.tensors.push_back({"rope_freqs.weight", {2}, 0, bytes_of({1.0F, 8.0F})});
  for (const bool long_text : {false, true}) {
    const auto rates = rotary_rates(load(factors).config().position.rotary, long_text);
    CHECK(rates == std::vector<double>{1.0, 0.01 / 8.0});
  }
  for (const auto wrong : {0.0F, -1.0F, std::numeric_limits<float>::quiet_NaN()}) {
    factors.tensor("rope_freqs.weight").bytes = bytes_of({1.0F, wrong});
    refuse(factors, [](TinyGguf&) {}, {"tensor 'rope_freqs.weight'", "expected factors from 0.001"});
  }
  factors.tensor("rope_freqs.weight") = {"rope_freqs.weight", {1, 2}, 0, bytes_of({1.0F, 1.0F})};
  refuse(factors, [](TinyGguf&) {}, {"tensor 'rope_freqs.weight'", "expected f32 [2]"});
  factors.tensor("rope_freqs.weight").shape = {2};
  refuse(factors, set("llama.rope.scale_linear", 2.0F), {"tensor 'rope_freqs.weight'", "one scaling"});
}

TEST_CASE("keys that mean something else in one architecture than in others", "[model]") {
  auto gguf = tiny_llama_gguf();  // heads of 4
  gguf.remove("general.architecture");
  for (auto& [key, value] : gguf.keys)
    if (key.rfind("llama.", 0) == 0) key.replace(0, 5, "granite");
  gguf.text("general.architecture", "granite");
  const auto without = load(gguf).config();
  CHECK(without.attention.scale == 0.5);
  CHECK((without.embedding_scale == 1.0 && without.residual_scale == 1.0 && without.logit_scale == 1.0));
  gguf.number("granite.attention.scale", 0.25F);
  gguf.number("granite.embedding_scale", 12.0F);
  gguf.number("granite.residual_scale", 0.5F);
  gguf.number("granite.logit_scale", 8.0F);
  gguf.flag("granite.rope.scaling.finetuned", true);
  const auto config = load(gguf).config();
  CHECK((config.attention.scale == 0.25 && config.embedding_scale == 12.0));
  CHECK((config.residual_scale == 0.5 && config.logit_scale == 0.125));
  refuse(gguf, set("granite.logit_scale", 0.0F), {"key 'granite.logit_scale'", "found 0"});
  refuse(gguf,
         [](TinyGguf& g) {
           g.remove("granite.rope.scaling.finetuned");
           g.flag("granite.rope.scaling.finetuned", false);
         },
         {"key 'granite.rope.scaling.finetuned'", "expected true", "found false"});
}

TEST_CASE("dtypes that are no weights are refused in GGUF too", "[model]") {
  for (const auto& [type, width] : {std::pair{24U, 1}, {25U, 2}, {26U, 4}, {27U, 8}, {28U, 8}})
    llama_refused(
        [&](TinyGguf& g) {
          g.tensor("output_norm.weight").type = type;
          g.tensor("output_norm.weight").bytes.assign(static_cast<std::size_t>(8 * width), '\0');
        },
        {"tensor 'output_norm.weight'", "expected dtype f32, f16 or bf16"});
}

TEST_CASE("models in all tensor types equal the reference: rows exactly, logits to 1e-5", "[golden][reference]") {
  const auto reference = reference_directory();
  if (!reference) {
    WARN("skipped: no reference folder (QKV_REFERENCE)");
    return;
  }
  int n_models = 0;
  for (const auto& entry : fs::directory_iterator(*reference / "real" / "gguf")) {
    auto expected_path = entry.path();
    expected_path.replace_extension(".expected.safetensors");
    if (entry.path().extension() != ".gguf" || !fs::exists(expected_path)) continue;
    CAPTURE(entry.path().filename().string());
    ++n_models;
    const Arrays expected(expected_path);
    const auto file = GgufFile::open(entry.path());
    for (const auto& [name, n_rows] : {std::pair{"blk.0.attn_q.weight", 2}, {"blk.1.ffn_down.weight", 1}}) {
      const auto rows = expected.floats(fmt::format("{}[0:{}]", name, n_rows));
      const auto found = std::find_if(file->tensors().begin(), file->tensors().end(),
                                      [&, wanted = name](const auto& tensor) { return tensor.name == wanted; });
      REQUIRE(found != file->tensors().end());
      std::vector<float> ours(rows.size());
      widen(found->dtype, found->bytes.data(), ours.size(), ours.data());
      CHECK(std::memcmp(ours.data(), rows.data(), rows.size() * sizeof(float)) == 0);
    }
    const auto logits = expected.floats("logits");
    const auto size = largest_difference(logits, std::vector<float>(logits.size()));
    const auto difference = largest_difference(logits_of(Model::load(entry.path()), expected.ids("input_ids")), logits);
    fmt::print("{:24} logits off by {:.1e} of {:.0f}\n", entry.path().filename().string(), difference / size, size);
    CHECK(difference / size < 1e-5);
  }
  CHECK(n_models == 12);
}

}  // namespace qkv::test
