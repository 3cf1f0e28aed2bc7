// The same numbers in another dtype, format, alignment or family layout must give the same logits, bit for bit.

#include "qkv/model/weights.hpp"

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "qkv/model/session.hpp"
#include "support/arrays.hpp"
#include "support/catch.hpp"
#include "support/numbers.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_model.hpp"

namespace qkv::test {
namespace {

const std::vector<TokenId> ids{3, 1, 4, 1, 5, 9, 2, 6};

/// Those of every backend and precision, one after the other.
std::vector<float> logits_of(const std::filesystem::path& directory, bool read_weights = true) {
  std::vector<float> logits;
  for (const auto& backend : ops::linear_backends())
    for (const auto precision : backend.precisions) {
      LoadOptions options;
      options.backend = backend.name;
      options.precision = precision;
      options.read_weights = read_weights;
      const auto model = Model::load(directory, options);
      Session session(model, 1);
      const auto view = session.forward(ids, Rows::all);
      logits.insert(logits.end(), view.data, view.data + view.rows * view.cols);
    }
  return logits;
}

std::vector<float> native_logits(const TinyModel& model) {
  const TemporaryDirectory directory;
  write_native(model, directory.path());
  return logits_of(directory.path());
}

std::vector<float> published_logits(const TinyModel& model) {
  const TemporaryDirectory directory;
  write_hugging_face(model, directory.path());
  return logits_of(directory.path());
}

/// Two models of the same random numbers: one in 16 bits, one in f32. Exponents stay near 1, so that logits are finite.
struct Twins {
  TinyModel narrow;
  TinyModel wide;
};

Twins twins_of(TinyModel model, const std::string& dtype) {
  const int fraction_bits = dtype == "F16" ? 10 : 7;
  const std::uint32_t bias = dtype == "F16" ? 15 : 127;
  Twins twins{model, model};
  Numbers random(11);
  for (auto& tensor : model.tensors) {
    const auto count = tensor.bytes.size() / sizeof(float);
    std::string narrow;
    std::vector<float> wide;
    for (std::size_t i = 0; i < count; ++i) {
      const auto fraction = random.bits() & ((1U << fraction_bits) - 1U);
      const auto down = 1U + random.bits() % 6U;  // the number lies in 2^-down .. 2^(1-down)
      const bool negative = (random.bits() & 1U) != 0;
      const auto bits = (negative ? 0x8000U : 0U) | (bias - down) << fraction_bits | fraction;
      narrow += {static_cast<char>(bits & 0xFFU), static_cast<char>(bits >> 8U)};
      const auto number =
          std::ldexp(1.0 + std::ldexp(static_cast<double>(fraction), -fraction_bits), -static_cast<int>(down));
      wide.push_back(static_cast<float>(negative ? -number : number));
    }
    twins.narrow.tensor(tensor.name) = {tensor.name, tensor.shape, dtype, narrow};
    twins.wide.tensor(tensor.name) = f32_tensor(tensor.name, tensor.shape, wide);
  }
  return twins;
}

}  // namespace

TEST_CASE("f16 and bf16 weights give the logits of the same numbers in f32, bit for bit", "[model]") {
  for (const auto* dtype : {"F16", "BF16"}) {
    CAPTURE(dtype);
    const auto native = twins_of(tiny_native(), dtype);
    CHECK(native_logits(native.narrow) == native_logits(native.wide));
    const auto llama = twins_of(tiny_llama(), dtype);
    CHECK(published_logits(llama.narrow) == published_logits(llama.wide));
    const auto gpt2 = twins_of(tiny_gpt2(), dtype);
    CHECK(published_logits(gpt2.narrow) == published_logits(gpt2.wide));
  }
}

TEST_CASE("f32 numbers that are not aligned in the file are the same numbers", "[model]") {
  for (const auto& model : {tiny_gpt2(), tiny_native()}) {
    const auto aligned = published_logits(model);
    const auto bytes = safetensors_file(model.tensors);
    std::uint64_t header_length = 0;
    std::memcpy(&header_length, bytes.data(), 8);
    const auto header = bytes.substr(8, header_length);
    for (const std::size_t spaces : {1U, 2U, 3U}) {
      const TemporaryDirectory directory;
      write_hugging_face(model, directory.path());
      write_file(directory.path() / "model.safetensors",
                 safetensors_file(header + std::string(spaces, ' '), bytes.substr(8 + header_length)));
      CHECK(logits_of(directory.path()) == aligned);
    }
  }
}

TEST_CASE("bare files and safetensors give the same logits", "[model]") {
  const auto model = tiny_native();
  CHECK(native_logits(model) == published_logits(model));
}

TEST_CASE("weights that are left on disk until they are used are the same", "[model]") {
  const TemporaryDirectory directory;
  write_native(tiny_native(), directory.path());
  CHECK(logits_of(directory.path(), false) == logits_of(directory.path()));
}

TEST_CASE("a published model with and without its prefix is the same", "[model]") {
  const auto bare = tiny_gpt2();
  auto prefixed = bare;
  for (auto& tensor : prefixed.tensors) tensor.name = "transformer." + tensor.name;
  CHECK(published_logits(bare) == published_logits(prefixed));
}

TEST_CASE("rows in groups lie where their step says", "[model]") {
  const RowGroups groups{2, 6};  // rows 0 and 1, 6 and 7, 12 and 13, ...
  const std::vector<std::int64_t> places{0, 1, 6, 7, 12, 13};
  for (std::size_t row = 0; row < places.size(); ++row)
    CHECK(groups.place_of(static_cast<std::int64_t>(row)) == places[row]);
  CHECK(RowGroups{}.place_of(5) == 5);
}

TEST_CASE("each tensor matters: changing any one changes the logits", "[model]") {
  const auto check_all = [](const TinyModel& whole) {
    const auto before = published_logits(whole);
    for (const auto& tensor : whole.tensors) {
      // A key bias shifts all scores of a row by the same amount where nothing turns the keys: the softmax forgets it.
      if (tensor.name.find(".b_k") != std::string::npos) continue;
      CAPTURE(tensor.name);
      auto changed = whole;
      changed.tensor(tensor.name) = random_tensor(tensor.name, tensor.shape, 4711);
      CHECK(largest_difference(published_logits(changed), before) > 1e-4);
    }
  };
  check_all(tiny_native());
  check_all(tiny_gpt2());
  check_all(tiny_llama());
}

}  // namespace qkv::test
