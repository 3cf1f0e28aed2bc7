// A model written in the project's own form is the same model.

#include "qkv/model/convert.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <vector>

#include "qkv/model/weight_check.hpp"
#include "qkv/tokenizer/tokenizer.hpp"
#include "support/arrays.hpp"
#include "support/catch.hpp"
#include "support/gguf_file.hpp"
#include "support/loaded.hpp"
#include "support/reference.hpp"
#include "support/refused.hpp"

namespace qkv::test {
namespace {

namespace fs = std::filesystem;

std::vector<float> logits_of(const fs::path& directory) {
  const auto model = Model::load(directory);
  Session session(model, 1);
  const auto count = std::min<std::int64_t>(model.config().n_ctx, 37);
  return copied(session.forward(random_ids(model.config(), count), Rows::all));
}

DType convert(const fs::path& from, const fs::path& to, WeightForm form, std::optional<DType> dtype = std::nullopt) {
  const auto files = open_model_files(from);
  const auto plan = plan_conversion(files, dtype);
  fs::create_directories(to);
  write_converted(files, plan, form, to);
  return plan.dtype;
}

/// Where the dtype is that of the source the numbers are the same, so the logits are, to the bit.
void check_same_model(const fs::path& from) {
  INFO(from.string());
  const auto expected = logits_of(from);
  for (const auto form : {WeightForm::native, WeightForm::safetensors}) {
    const TemporaryDirectory directory;
    (void)convert(from, directory.path(), form);
    CHECK(logits_of(directory.path()) == expected);
    const TemporaryDirectory again;  // and from there once more, into the other form
    (void)convert(directory.path(), again.path(),
                  form == WeightForm::native ? WeightForm::safetensors : WeightForm::native, DType::f32);
    CHECK(logits_of(again.path()) == expected);
  }
}

std::vector<fs::path> folders_in(const fs::path& parent) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(parent))
    if (fs::exists(entry.path() / "config.json")) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::vector<std::byte> bytes_of_tensor(const ModelFiles& files, const std::string& name) {
  const auto* tensor = find_tensor(*files.source, name);
  REQUIRE(tensor != nullptr);
  return {tensor->bytes.begin(), tensor->bytes.end()};
}

}  // namespace

TEST_CASE("a converted model gives the same logits, bit for bit", "[model]") {
  const fs::path data = QKV_TEST_DATA;
  auto folders = folders_in(data / "models");
  folders.push_back(data / "real" / "stories260K-hf");
  folders.push_back(data / "real" / "gpt-nano-sort-hf");
  CHECK(folders.size() >= 15);
  for (const auto& folder : folders) check_same_model(folder);
}

TEST_CASE("the tokenizer of a model in one file becomes a file of its own", "[model]") {
  const TemporaryDirectory directory;
  auto gguf = tiny_llama_gguf();
  gguf.text("tokenizer.ggml.model", "gpt2");
  gguf.text("tokenizer.ggml.pre", "gpt-2");
  gguf.texts("tokenizer.ggml.tokens", {"a", "b", "c", "ab", "abc", "d", "e", "f", "g", "h", "<e>"});
  gguf.texts("tokenizer.ggml.merges", {"a b", "ab c"});
  gguf.integers("tokenizer.ggml.token_type", {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3});
  const auto file = directory.path() / "model.gguf";
  write_file(file, gguf.bytes());
  check_same_model(file);
  const auto to = directory.path() / "to";
  (void)convert(file, to, WeightForm::native);
  CHECK(copy_tokenizer(file, to) == std::vector<std::string>{"tokenizer.gguf"});
  const auto before = Tokenizer::open(file);
  const auto after = Tokenizer::open(to);
  REQUIRE(before.has_value());
  REQUIRE(after.has_value());
  CHECK(after->encode("abcab", {}) == before->encode("abcab", {}));
  CHECK(after->encode("abcab", {}) == std::vector<TokenId>{4, 3});
  const auto again = directory.path() / "again";
  (void)convert(to, again, WeightForm::safetensors);
  CHECK(copy_tokenizer(to, again) == std::vector<std::string>{"tokenizer.gguf"});
  CHECK(converted_files(again).size() == 3);
}

TEST_CASE("every reference model in one file is the same after conversion", "[model][reference]") {
  const auto reference = reference_directory();
  if (!reference) {
    WARN("skipped: no reference folder (QKV_REFERENCE)");
    return;
  }
  int converted = 0;
  for (const auto& entry : fs::directory_iterator(*reference / "real" / "gguf")) {
    if (entry.path().extension() != ".gguf") continue;
    ++converted;
    check_same_model(entry.path());
    const auto files = open_model_files(entry.path());
    std::int64_t count = 0;
    for (const auto& check : check_weights(files)) {  // of weights in blocks too
      CHECK(check.not_finite == 0);
      CHECK(check.deviation > 0.0);
      count += check.count;
    }
    CHECK(count == files.config.parameter_count());
  }
  CHECK(converted > 0);
}

TEST_CASE("every reference model that opens is the same after conversion", "[model][reference]") {
  const auto reference = reference_directory();
  if (!reference) {
    WARN("skipped: no reference folder (QKV_REFERENCE)");
    return;
  }
  for (const auto& folder : folders_in(*reference / "oracle")) {
    try {
      (void)open_model_files(folder);
    } catch (const Error&) {
      continue;  // of no family that is known
    }
    check_same_model(folder);
  }
}

TEST_CASE("the dtype is that of the source where it has one", "[model]") {
  const fs::path models = fs::path(QKV_TEST_DATA) / "models";
  const TemporaryDirectory directory;
  CHECK(convert(models / "gpt2-bf16", directory.path() / "a", WeightForm::native) == DType::bf16);
  CHECK(convert(models / "llama-fp16", directory.path() / "b", WeightForm::native) == DType::f16);
  CHECK(convert(models / "gpt2-hub", directory.path() / "c", WeightForm::native) == DType::f32);
  auto mixed = tiny_native();
  auto& tokens = mixed.tensor("embedding.tokens");  // the first that is looked at
  const auto numbers = mixed.numbers("embedding.tokens");
  std::vector<std::uint16_t> rounded(numbers.size());
  round_to_bf16(numbers.data(), numbers.size(), rounded.data());
  tokens.dtype = "BF16";
  tokens.bytes.assign(reinterpret_cast<const char*>(rounded.data()), 2 * rounded.size());
  write_native(mixed, directory.path() / "mixed");
  CHECK(convert(directory.path() / "mixed", directory.path() / "d", WeightForm::native) == DType::f32);
  CHECK(logits_of(directory.path() / "d") == logits_of(directory.path() / "mixed"));
}

TEST_CASE("fused and transposed weights of GPT-2 are taken apart and turned", "[model]") {
  const TemporaryDirectory directory;
  const auto model = tiny_gpt2();
  write_hugging_face(model, directory.path() / "gpt2");
  (void)convert(directory.path() / "gpt2", directory.path() / "native", WeightForm::native);
  const auto files = open_model_files(directory.path() / "native");
  const auto fused = model.numbers("h.1.attn.c_attn.weight");  // [8, 24]
  const auto bias = model.numbers("h.1.attn.c_attn.bias");
  const char* letters[] = {"q", "k", "v"};
  for (std::size_t part = 0; part < 3; ++part) {
    std::vector<float> matrix;
    for (std::size_t out = 0; out < 8; ++out)
      for (std::size_t in = 0; in < 8; ++in) matrix.push_back(fused[in * 24 + part * 8 + out]);
    const auto found = bytes_of_tensor(files, std::string("blocks.1.attn.W_") + letters[part]);
    CHECK(std::string(reinterpret_cast<const char*>(found.data()), found.size()) == bytes_of(matrix));
    const auto found_bias = bytes_of_tensor(files, std::string("blocks.1.attn.b_") + letters[part]);
    CHECK(std::string(reinterpret_cast<const char*>(found_bias.data()), found_bias.size()) ==
          bytes_of({bias.begin() + static_cast<std::ptrdiff_t>(8 * part),
                    bias.begin() + static_cast<std::ptrdiff_t>(8 * part + 8)}));
  }
  CHECK(find_tensor(*files.source, "head.W") == nullptr);  // tied
}

TEST_CASE("wide transposed weights are turned strip by strip", "[model]") {
  auto config = tiny_gpt2().config;
  config["n_embd"] = 72;
  config["n_inner"] = 150;  // more than two strips, the last one not full
  const JsonReader reader("wide", config);
  const auto outline = outline_model(reader);
  TinyModel model{config, {}};
  std::uint32_t seed = 1;
  for (const auto& asked : outline.asked) model.tensors.push_back(random_tensor(asked.name, asked.shape, ++seed));
  const TemporaryDirectory directory;
  write_hugging_face(model, directory.path());
  check_same_model(directory.path());
}

TEST_CASE("a number that the dtype cannot hold is refused by the name of its tensor", "[model]") {
  const TemporaryDirectory directory;
  auto model = tiny_native();
  auto numbers = model.numbers("blocks.1.mlp.W_out");
  numbers[7] = -65520.0F;
  model.tensor("blocks.1.mlp.W_out").bytes = bytes_of(numbers);
  write_native(model, directory.path() / "large");
  check_refused(
      ErrorCode::numbers,
      [&] { (void)convert(directory.path() / "large", directory.path() / "a", WeightForm::native, DType::f16); },
      {"blocks.1.mlp.W_out", "f16", "-65520"});
  numbers[7] = 65519.0F;  // is rounded to the largest there is
  model.tensor("blocks.1.mlp.W_out").bytes = bytes_of(numbers);
  write_native(model, directory.path() / "large");
  (void)convert(directory.path() / "large", directory.path() / "b", WeightForm::native, DType::f16);
  const auto written = bytes_of_tensor(open_model_files(directory.path() / "b"), "blocks.1.mlp.W_out");
  CHECK(written[14] == std::byte{0xFF});
  CHECK(written[15] == std::byte{0x7B});
  numbers[7] = std::numeric_limits<float>::infinity();  // was so before
  model.tensor("blocks.1.mlp.W_out").bytes = bytes_of(numbers);
  write_native(model, directory.path() / "large");
  CHECK_NOTHROW(convert(directory.path() / "large", directory.path() / "c", WeightForm::native, DType::f16));
}

TEST_CASE("progress ends with everything, and what it throws ends the conversion", "[model]") {
  const TemporaryDirectory directory;
  write_native(tiny_native(), directory.path() / "from");
  const auto files = open_model_files(directory.path() / "from");
  const auto plan = plan_conversion(files, DType::bf16);
  std::int64_t last = 0;
  fs::create_directories(directory.path() / "to");
  write_converted(files, plan, WeightForm::safetensors, directory.path() / "to", [&](auto done, auto total) {
    CHECK(total == plan.byte_count());
    last = done;
  });
  CHECK(last == plan.byte_count());
  CHECK(plan.byte_count() == 2 * files.config.parameter_count());
}

TEST_CASE("only what convert wrote counts as replaceable", "[model]") {
  const TemporaryDirectory directory;
  const auto from = fs::path(QKV_TEST_DATA) / "real" / "stories260K-hf";
  const auto to = directory.path() / "to";
  (void)convert(from, to, WeightForm::native);
  CHECK(copy_tokenizer(from, to).size() == 2);
  const auto files = converted_files(to);
  CHECK(files.size() == 47 + 1 + 1 + 2);  // tensors, their folder, config.json, the tokenizer's
  CHECK(std::find(files.begin(), files.end(), fs::path("weights") / "final_norm.gain.f32") != files.end());

  const auto refused = [&](const std::vector<std::string>& parts) {
    check_refused(
        ErrorCode::usage, [&] { (void)converted_files(to); }, parts);
  };
  write_file(to / "notes.txt", "mine");
  refused({"notes.txt"});
  fs::remove(to / "notes.txt");
  write_file(to / "weights" / "notes.txt", "mine");
  refused({"weights/notes.txt"});
  fs::remove(to / "weights" / "notes.txt");
  fs::create_directory(to / "weights" / "more.f32");
  refused({"weights/more.f32"});
  fs::remove(to / "weights" / "more.f32");
  fs::rename(to / "tokenizer.json", directory.path() / "elsewhere");
  fs::create_symlink(directory.path() / "elsewhere", to / "tokenizer.json");
  refused({"tokenizer.json"});
  fs::remove(to / "tokenizer.json");
  CHECK(converted_files(to).size() == 47 + 1 + 1 + 1);
  fs::copy_file(from / "config.json", to / "config.json", fs::copy_options::overwrite_existing);
  refused({"_written_by"});
  check_refused(ErrorCode::usage, [&] { (void)converted_files(fs::path(QKV_SOURCE_DIR) / "models" / "nursery"); },
                {"_written_by"});
  fs::create_directory(directory.path() / "empty");
  CHECK(converted_files(directory.path() / "empty").empty());
}

}  // namespace qkv::test
