// The files of llama2.c, in three versions: the same model as in its family's own files, and refused where damaged.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "qkv/generate/generate.hpp"
#include "qkv/model/container.hpp"
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

constexpr std::size_t group_size = 4;

/// Also of the lowest number, which stays what it is.
std::int32_t negated(std::int32_t number) { return static_cast<std::int32_t>(-static_cast<std::uint32_t>(number)); }

/// The parts of a file, so that a test can damage one of them.
struct TinyLlama2c {
  std::uint32_t version = 0;
  std::vector<std::int32_t> numbers{8, 12, 2, 2, 1, 11, 32};  // as in tiny_llama_two_heads()
  bool tied = false;
  std::int32_t group = group_size;
  std::string tensors;

  [[nodiscard]] std::string bytes() const {
    std::string header;
    if (version > 0) header = "24ka" + raw(version);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      header += raw(version == 0 && i == 5 && !tied ? negated(numbers[i]) : numbers[i]);
    if (version > 0) {
      header += tied ? '\1' : '\0';
      if (version == 2) header += raw(group);
      header.resize(256, '\0');
    }
    return header + tensors;
  }
};

/// Signed bytes and scales for groups, as the export script of version 2 rounds them.
std::string quantised(const std::vector<float>& numbers) {
  std::string bytes;
  std::string scales;
  for (std::size_t at = 0; at < numbers.size(); at += group_size) {
    float largest = 0.0F;
    for (std::size_t i = 0; i < group_size; ++i) largest = std::max(largest, std::abs(numbers[at + i]));
    const auto scale = largest / 127.0F;
    for (std::size_t i = 0; i < group_size; ++i)
      bytes += static_cast<char>(static_cast<std::int8_t>(std::lround(numbers[at + i] / scale)));
    scales += raw(scale);
  }
  return bytes + scales;
}

class Writer {
 public:
  explicit Writer(std::uint32_t version) : model_(tiny_llama_two_heads()) { file_.version = version; }

  TinyLlama2c write() {
    if (file_.version > 0) {
      vectors("input_layernorm");
      vectors("post_attention_layernorm");
      vector("model.norm");
    }
    matrix("model.embed_tokens");
    if (file_.version == 0) vectors("input_layernorm");
    for (const auto* part : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj"})
      matrices(part);
    if (file_.version == 0) vectors("post_attention_layernorm");
    for (const auto* part : {"mlp.gate_proj", "mlp.down_proj", "mlp.up_proj"}) matrices(part);
    if (file_.version == 0) {
      vector("model.norm");
      file_.tensors.append(32 * 2 * 2 * sizeof(float), '\0');  // rotary tables
    }
    matrix("lm_head");
    return file_;
  }

 private:
  void vector(const std::string& name) { file_.tensors += model_.tensor(name + ".weight").bytes; }
  void vectors(const std::string& part) {
    for (int i = 0; i < 2; ++i) vector(fmt::format("model.layers.{}.{}", i, part));
  }
  void matrix(const std::string& name) {
    auto& bytes = model_.tensor(name + ".weight").bytes;
    if (name.find("q_proj") != std::string::npos) bytes = halves_to_pairs(bytes, 2, 8);
    if (name.find("k_proj") != std::string::npos) bytes = halves_to_pairs(bytes, 1, 4);
    file_.tensors += file_.version == 2 ? quantised(model_.numbers(name + ".weight")) : bytes;
  }
  void matrices(const std::string& part) {
    for (int i = 0; i < 2; ++i) matrix(fmt::format("model.layers.{}.{}", i, part));
  }

  TinyModel model_;
  TinyLlama2c file_;
};

TinyLlama2c tiny(std::uint32_t version) { return Writer(version).write(); }

Model load(const std::string& bytes) {
  const TemporaryDirectory directory;
  write_file(directory.path() / "x.bin", bytes);
  return Model::load(directory.path() / "x.bin");
}

void check_bytes_refused(const std::string& bytes, std::vector<std::string> parts) {
  parts.emplace_back("x.bin: ");
  check_refused(
      ErrorCode::model, [&] { (void)load(bytes); }, parts);
}

std::vector<float> logits_of(const Model& model) {
  Session session(model);
  return copied(session.forward(random_ids(model.config(), 14), Rows::all));
}

}  // namespace

TEST_CASE("llama2.c's files give the logits of the family's own files", "[model]") {
  const TemporaryDirectory directory;
  write_hugging_face(tiny_llama_two_heads(), directory.path());
  auto expected = logits_of(Model::load(directory.path()));
  for (const std::uint32_t version : {0U, 1U, 2U}) {
    CAPTURE(version);
    const auto model = load(tiny(version).bytes());
    CHECK(model.format().find(fmt::format("version {}", version)) != std::string_view::npos);
    CHECK(model.config().eos == std::vector<TokenId>{1, 2});
    CHECK_FALSE(model.config().head.tied);
    // Epsilon is 1e-5 there and 1e-6 here; version 2 rounds every number to 1/127 of its group's largest.
    CHECK(largest_difference(logits_of(model), expected) < (version == 2 ? 0.2 : 1e-3));
  }
}

TEST_CASE("rows of llama2.c that end within a group are read as its program reads them", "[model]") {
  TinyLlama2c file;
  file.version = 2;
  file.tied = true;
  file.numbers = {8, 11, 1, 2, 1, 11, 32};  // rows of W_out, 11 wide: two groups of 4, and three that are left out
  const auto signed_byte = [](std::size_t i) { return static_cast<float>(static_cast<int>(i % 199) - 99); };
  const auto scale = [](std::size_t group) { return static_cast<float>(group + 1); };
  const auto add = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) file.tensors += static_cast<char>(static_cast<std::int8_t>(signed_byte(i)));
    for (std::size_t group = 0; group < count / group_size; ++group) file.tensors += raw(scale(group));
  };
  for (int i = 0; i < 3 * 8; ++i) file.tensors += raw(1.0F);  // the norms
  for (const std::size_t count : {88, 64, 32, 32, 64, 88, 88, 88}) add(count);

  const auto model = load(file.bytes());
  CHECK(model.config().linear_input_group == 4);
  const auto& tensors = model.tensors();
  const auto W_out = std::find_if(tensors.begin(), tensors.end(), [](const auto& tensor) {
    return tensor.name == "model.layers.0.mlp.down_proj.weight";
  });
  REQUIRE(W_out != tensors.end());
  std::vector<float> numbers(88);
  widen(W_out->dtype, W_out->bytes.data(), numbers.size(), numbers.data());
  for (std::size_t row = 0; row < 8; ++row)
    for (std::size_t col = 0; col < 11; ++col) {
      CAPTURE(row, col);
      const auto first = row * 11 + col / 4 * 4;
      const auto expected = col < 8 ? signed_byte(row * 11 + col) * scale(first / 4) : 0.0F;
      CHECK(numbers[row * 11 + col] == expected);
    }
}

TEST_CASE("a tied head is told by the sign of the vocabulary, or by a flag", "[model]") {
  for (const std::uint32_t version : {0U, 1U, 2U}) {
    auto file = tiny(version);
    const auto head = version == 2 ? std::size_t{88 + 88} : std::size_t{88 * 4};
    file.tied = true;
    check_bytes_refused(file.bytes(), {"expected", "bytes, as the header says", "found"});
    file.tensors.erase(file.tensors.size() - head);
    CHECK(load(file.bytes()).config().head.tied);
    file.tied = false;
    check_bytes_refused(file.bytes(), {"tensor 'lm_head.weight'", "cut short"});
  }
}

TEST_CASE("llama2.c's files cut short or too long are refused", "[model]") {
  for (const std::uint32_t version : {0U, 1U, 2U}) {
    const auto whole = tiny(version).bytes();
    for (std::size_t size = 4; size < whole.size(); size += size < 300 ? 1 : 97) {
      CAPTURE(version, size);
      CHECK_THROWS_AS(load(whole.substr(0, size)), Error);
    }
    check_bytes_refused(whole.substr(0, whole.size() - 1), {"tensor 'lm_head.weight'", "cut short"});
    check_bytes_refused(whole + "x",
                        {fmt::format("expected {} bytes", whole.size()), fmt::format("found {}", whole.size() + 1)});
  }
}

TEST_CASE("headers of llama2.c that make no sense are refused by the number's name", "[model]") {
  const std::vector<const char*> names{"dim",        "hidden_dim", "n_layers", "n_heads",
                                       "n_kv_heads", "vocab_size", "seq_len"};
  for (const std::uint32_t version : {0U, 1U, 2U})
    for (std::size_t i = 0; i < names.size(); ++i)
      for (const auto value :
           {0, -5, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()}) {
        if (version == 0 && i == 0 && value != 0) continue;   // such a file is none of llama2.c's
        if (version == 0 && i == 5 && value == -5) continue;  // says only that the head is not tied
        auto file = tiny(version);
        file.numbers[i] = value;
        CAPTURE(version, names[i], value);
        if (value > 0 && i == 6)
          check_bytes_refused(file.bytes(), {"expected"});  // the rotary tables, or the context's range
        else
          check_bytes_refused(file.bytes(), {fmt::format("key '{}'", names[i]), "expected an integer from 1 to"});
      }
}

TEST_CASE("groups, flags and versions of llama2.c that make no sense are refused", "[model]") {
  auto file = tiny(2);
  for (const auto group : {0, -1, std::numeric_limits<std::int32_t>::min()}) {
    file.group = group;
    check_bytes_refused(file.bytes(), {"header, group_size", fmt::format("found {}", group)});
  }
  file.group = 16;
  check_bytes_refused(file.bytes(), {"header, group_size", "a divisor of dim 8, at most hidden_dim 12", "found 16"});
  file.group = 3;
  check_bytes_refused(file.bytes(), {"header, group_size", "a divisor of dim 8", "found 3"});
  file = tiny(1);
  auto bytes = file.bytes();
  bytes[36] = '\2';
  check_bytes_refused(bytes, {"shared_classifier", "found 2"});
  for (const std::uint32_t version : {0U, 3U, 0xFFFFFFFFU}) {
    bytes = tiny(1).bytes();
    bytes.replace(4, 4, raw(version));
    check_bytes_refused(bytes, {"version", "expected llama2.c version 1 or 2", fmt::format("found {}", version)});
  }
}

TEST_CASE("a file that is no model says so, and where one may be", "[model]") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "model.safetensors";
  write_file(path, "x");
  check_refused(
      ErrorCode::model, [&] { (void)Model::load(path); },
      {path.string(), "expected a model directory (with config.json)", "(GGUF, llama2.c)", "found a file of text"});
  write_file(directory.path() / "config.json", "{}");
  check_refused(ErrorCode::model, [&] { (void)Model::load(path); }, {"the directory that it is in may be a model"});
  for (const auto& [begin, kind] : {std::pair{"PK\3\4 and so on", "a zip archive"},
                                    {"\x80\2\x8A\n and so on", "a file of another kind"},
                                    {"", "an empty file"}}) {
    write_file(directory.path() / "x.bin", begin);
    check_refused(ErrorCode::model, [&] { (void)Model::load(directory.path() / "x.bin"); }, {kind});
  }
}

TEST_CASE("the tokenizer of a llama2.c file is looked for beside it, by the vocabulary's size first", "[model]") {
  const TemporaryDirectory directory;
  const auto model = directory.path() / "x.bin";
  write_file(model, tiny(0).bytes());
  CHECK(tokenizer_path(model) == directory.path() / "tokenizer.bin");
  write_file(directory.path() / "tok12.bin", "x");
  CHECK(tokenizer_path(model) == directory.path() / "tokenizer.bin");
  write_file(directory.path() / "tok11.bin", "x");
  CHECK(tokenizer_path(model) == directory.path() / "tok11.bin");
}

TEST_CASE("the stories model tells its author's story from every file it is kept in", "[golden][reference]") {
  const auto reference = reference_directory();
  if (!reference) {
    WARN("skipped: no reference folder (QKV_REFERENCE)");
    return;
  }
  const auto real = *reference / "real";
  const auto ids_of = [&](const fs::path& path, std::int64_t count) {
    const auto model = Model::load(path);
    Session session(model);
    Sampler greedy({.temperature = 0.0});
    return generate(session, std::vector<TokenId>{1}, greedy, {.max_new_tokens = count, .cache = true},
                    [](const NewToken&) { return Next::go_on; })
        .ids;
  };
  const auto expected = ids_of(real / "stories260K-hf", 250);
  for (const auto* file : {"gguf/stories260K-f32.gguf", "llama2c/stories260K.bin", "llama2c/checkpoint_v1_b.bin"}) {
    CAPTURE(file);
    CHECK(ids_of(real / file, 250) == expected);
  }
  CHECK(ids_of(real / "llama2c" / "babyllama-tok105.bin", 200) == ids_of(real / "BabyLlama-tok105-hf", 200));
}

}  // namespace qkv::test
