// The gate: weights that do not fit the config, in every format.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "qkv/model/model.hpp"
#include "support/catch.hpp"
#include "support/refused.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_model.hpp"

namespace qkv::test {
namespace {

namespace fs = std::filesystem;

using Writer = void (*)(const TinyModel&, const fs::path&);

void check_weights_refused(const TinyModel& model, Writer write, std::vector<std::string> parts) {
  const TemporaryDirectory directory;
  write(model, directory.path());
  parts.push_back(directory.path().string());
  check_refused(
      ErrorCode::model, [&] { (void)Model::load(directory.path()); }, parts);
}

Model load(const TinyModel& model, Writer write) {
  const TemporaryDirectory directory;  // what is mapped stays readable when its name is gone
  write(model, directory.path());
  return Model::load(directory.path());
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("each tensor that is missing is named with the shape it should have", "[model]") {
  const auto whole = tiny_native();
  for (const auto& tensor : whole.tensors) {
    auto model = whole;
    model.remove(tensor.name);
    const std::vector<std::string> parts{"tensor '" + tensor.name + "'", "expected shape " + to_string(tensor.shape),
                                         "found nothing"};
    check_weights_refused(model, write_native, parts);
    check_weights_refused(model, write_hugging_face, parts);
  }
}

TEST_CASE("each tensor of a published model that is missing is named", "[model]") {
  for (const auto& whole : {tiny_gpt2(), tiny_llama()})
    for (const auto& tensor : whole.tensors) {
      auto model = whole;
      model.remove(tensor.name);
      // Without the tokens nobody knows whether all names begin with the publisher's prefix.
      const auto name = tensor.name.substr(tensor.name.rfind("model.", 0) == 0 ? 6 : 0);
      check_weights_refused(model, write_hugging_face, {name + "'", to_string(tensor.shape), "found nothing"});
    }
}

TEST_CASE("a tensor that nobody asked for is refused", "[model]") {
  for (const auto& name : {"blocks.2.attn.W_q", "blocks.0.attn.W_Q", "head.W.old", "x"}) {
    auto model = tiny_native();
    model.tensors.push_back(random_tensor(name, {3}, 5));
    const std::vector<std::string> parts{"tensor '" + std::string(name) + "'", "expected no such tensor", "f32 [3]"};
    check_weights_refused(model, write_native, parts);
    auto published = tiny_llama();
    published.tensors.push_back(random_tensor(name, {3}, 5));
    check_weights_refused(published, write_hugging_face, {parts[0], parts[1], parts[2], "model.safetensors"});
  }
}

TEST_CASE("a bias or a layer more than the config has is refused", "[model]") {
  auto biased = tiny_llama();
  biased.tensors.push_back(random_tensor("model.layers.0.self_attn.q_proj.bias", {8}, 5));
  check_weights_refused(biased, write_hugging_face, {"q_proj.bias'", "expected no such tensor"});
  auto shorter = tiny_gpt2();
  shorter.config["n_layer"] = 1;
  check_weights_refused(shorter, write_hugging_face, {"tensor 'h.1.", "expected no such tensor"});
  auto longer = tiny_gpt2();
  longer.config["n_layer"] = 3;
  check_weights_refused(longer, write_hugging_face, {"tensor 'h.2.", "found nothing"});
}

TEST_CASE("a shape that is not what the config asks for is refused", "[model]") {
  const auto refuse = [](const TinyModel& whole, const std::string& name, const Shape& shape) {
    auto model = whole;
    const auto expected = model.tensor(name).shape;
    model.tensor(name) = random_tensor(name, shape, 5);
    check_weights_refused(
        model, write_hugging_face,
        {"tensor '" + name + "'", "expected shape " + to_string(expected), "found " + to_string(shape)});
  };
  refuse(tiny_gpt2(), "h.0.mlp.c_fc.weight", {20, 8});  // transposed: as many numbers, another meaning
  refuse(tiny_gpt2(), "h.1.attn.c_attn.weight", {24, 8});
  refuse(tiny_gpt2(), "wte.weight", {8, 11});
  refuse(tiny_gpt2(), "h.0.attn.c_attn.bias", {8});
  refuse(tiny_gpt2(), "ln_f.weight", {1, 8});
  refuse(tiny_llama(), "model.layers.0.self_attn.k_proj.weight", {8, 8});
  refuse(tiny_llama(), "model.layers.1.mlp.down_proj.weight", {12, 8});
  refuse(tiny_llama(), "lm_head.weight", {88});
  refuse(tiny_llama(), "model.norm.weight", {});
  refuse(tiny_native(), "blocks.0.mlp.W_in", {12, 20});
}

TEST_CASE("a config whose sizes are enormous is refused before anything is touched", "[model]") {
  auto model = tiny_gpt2();
  model.config["n_embd"] = std::int64_t{1} << 24;
  model.config["vocab_size"] = std::int64_t{1} << 26;
  check_weights_refused(model, write_hugging_face, {"tensor 'wte.weight'", "[67108864, 16777216]", "found [11, 8]"});
  auto native = tiny_native();
  native.config["d_model"] = std::int64_t{1} << 24;
  native.config["n_vocab"] = std::int64_t{1} << 26;
  check_weights_refused(native, write_native, {"'embedding.tokens'", "expected 4503599627370496 bytes", "found 816"});
}

TEST_CASE("a dtype that weights do not have is refused", "[model]") {
  for (const auto& [dtype, width] : {std::pair{"I64", 8}, {"F64", 8}, {"I32", 4}, {"I16", 2}, {"U8", 1}, {"BOOL", 1}}) {
    auto model = tiny_llama();
    auto& tensor = model.tensor("model.norm.weight");
    tensor.dtype = dtype;
    tensor.bytes.assign(static_cast<std::size_t>(8 * width), '\0');
    check_weights_refused(model, write_hugging_face, {"tensor 'model.norm.weight'", "expected dtype f32, f16 or bf16"});
  }
}

TEST_CASE("a bare file that is too short or too long is refused with both byte counts", "[model]") {
  for (const auto* name : {"embedding.tokens", "blocks.1.attn.W_o", "blocks.0.mlp.b_in", "final_norm.gain"})
    for (const int change : {-4, 4}) {
      auto model = tiny_native();
      auto& bytes = model.tensor(name).bytes;
      const auto right = bytes.size();
      bytes.resize(right + static_cast<std::size_t>(change));
      check_weights_refused(model, write_native,
                            {"tensor '" + std::string(name) + "'", "expected " + std::to_string(right) + " bytes",
                             "found " + std::to_string(bytes.size())});
    }
  auto model = tiny_native();
  model.tensor("final_norm.gain").bytes.clear();
  check_weights_refused(model, write_native, {"tensor 'final_norm.gain'", "found 0"});
}

TEST_CASE("many problems are listed at once, and the list ends somewhere", "[model]") {
  auto three = tiny_native();
  three.remove("final_norm.gain");
  three.tensor("blocks.0.mlp.b_in").bytes.resize(4);
  three.tensors.push_back(random_tensor("extra", {1}, 1));
  check_weights_refused(three, write_native, {"'final_norm.gain'", "'blocks.0.mlp.b_in'", "'extra'"});
  const TemporaryDirectory directory;
  auto many = tiny_native();
  many.config["n_layers"] = 40;
  write_native(many, directory.path());
  try {
    (void)Model::load(directory.path());
    FAIL("expected an error");
  } catch (const Error& error) {
    CHECK(count_of(error.what(), "tensor '") == 8);
    CHECK(count_of(error.what(), " more") == 1);
  }
}

TEST_CASE("a tied head must not come with other numbers", "[model]") {
  auto gpt2 = tiny_gpt2();
  gpt2.tensors.push_back(random_tensor("lm_head.weight", {11, 8}, 77));
  check_weights_refused(gpt2, write_hugging_face, {"tensor 'lm_head.weight'", "'wte.weight'", "ties the head"});
  auto native = tiny_native();
  native.tensors.push_back(random_tensor("head.W", {17, 12}, 77));
  check_weights_refused(native, write_native, {"tensor 'head.W'", "'embedding.tokens'", "ties the head"});
  gpt2.tensor("lm_head.weight") = random_tensor("lm_head.weight", {8, 11}, 77);
  check_weights_refused(gpt2, write_hugging_face, {"tensor 'lm_head.weight'", "expected shape [11, 8]"});
}

TEST_CASE("a tied head that comes with the same numbers is ignored and reported", "[model]") {
  auto gpt2 = tiny_gpt2();
  gpt2.tensors.push_back({"lm_head.weight", {11, 8}, "F32", gpt2.tensor("wte.weight").bytes});
  CHECK(load(gpt2, write_hugging_face).ignored() == std::vector<std::string>{"lm_head.weight"});
  auto llama = tiny_llama();
  llama.config["tie_word_embeddings"] = true;
  check_weights_refused(llama, write_hugging_face, {"tensor 'lm_head.weight'", "ties the head"});
  llama.tensor("lm_head.weight").bytes = llama.tensor("model.embed_tokens.weight").bytes;
  CHECK(load(llama, write_hugging_face).ignored().size() == 1);
}

TEST_CASE("a head that is not tied must be there", "[model]") {
  auto gpt2 = tiny_gpt2();
  gpt2.config["tie_word_embeddings"] = false;
  check_weights_refused(gpt2, write_hugging_face, {"tensor 'lm_head.weight'", "[11, 8]", "found nothing"});
}

TEST_CASE("masks and other known buffers are ignored by exact name and reported", "[model]") {
  auto gpt2 = tiny_gpt2();
  gpt2.tensors.push_back({"h.0.attn.bias", {1, 1, 4, 4}, "U8", std::string(16, '\1')});
  gpt2.tensors.push_back({"h.1.attn.masked_bias", {}, "F32", std::string(4, '\0')});
  CHECK(load(gpt2, write_hugging_face).ignored() == std::vector<std::string>{"h.0.attn.bias", "h.1.attn.masked_bias"});
  gpt2.tensors.push_back({"h.2.attn.bias", {1}, "U8", "x"});
  check_weights_refused(gpt2, write_hugging_face, {"tensor 'h.2.attn.bias'", "expected no such tensor"});
  auto llama = tiny_llama();
  llama.tensors.push_back(random_tensor("model.layers.1.self_attn.rotary_emb.inv_freq", {1}, 1));
  CHECK(load(llama, write_hugging_face).ignored().size() == 1);
}

TEST_CASE("progress counts every byte up to the whole", "[model]") {
  const TemporaryDirectory directory;
  const auto model = tiny_native();
  write_native(model, directory.path());
  std::size_t stored = 0;
  for (const auto& tensor : model.tensors) stored += tensor.bytes.size();
  std::int64_t last = 0;
  std::int64_t announced = 0;
  LoadOptions options;
  options.progress = [&](std::int64_t done, std::int64_t total) {
    CHECK(done > last);
    last = done;
    announced = total;
  };
  (void)Model::load(directory.path(), options);
  CHECK(last == static_cast<std::int64_t>(stored));
  CHECK(announced == last);
}

}  // namespace qkv::test
