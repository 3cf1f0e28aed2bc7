// Numbers that went wrong: the first place where they did is named.

#include <limits>
#include <string>
#include <vector>

#include "qkv/generate/generate.hpp"
#include "support/catch.hpp"
#include "support/loaded.hpp"
#include "support/refused.hpp"

namespace qkv::test {
namespace {

constexpr auto nan = std::numeric_limits<float>::quiet_NaN();
constexpr auto infinity = std::numeric_limits<float>::infinity();

const std::vector<TokenId> prompt{3, 1, 4, 1, 5, 9};

void put(TinyModel& model, const std::string& name, std::size_t index, float number) {
  auto numbers = model.numbers(name);
  numbers.at(index) = number;
  model.tensor(name).bytes = bytes_of(numbers);
}

void check_named(const TinyModel& files, const std::string& place) {
  const auto model = loaded(files);
  for (const bool cache : {false, true}) {
    Session session(model, 1);
    Sampler sampler({});
    check_refused(ErrorCode::numbers,
                  [&] {
                    (void)generate(session, prompt, sampler, {.max_new_tokens = 3, .cache = cache},
                                   [](const NewToken&) { return Next::go_on; });
                  },
                  {"expected finite", "first in " + place});
  }
}

void check_number_named(const std::string& tensor, std::size_t index, const std::string& place, float number = nan) {
  CAPTURE(tensor, place);
  auto files = tiny_native();
  put(files, tensor, index, number);
  check_named(files, place);
}

}  // namespace

TEST_CASE("a NaN in any tensor is named by the layer and place where it comes up", "[generate]") {
  for (const std::string layer : {"0", "1"}) {
    const auto block = "blocks." + layer + ".";
    const auto in_layer = "layer " + layer + ", ";
    check_number_named(block + "attn_norm.gain", 2, in_layer + "attn_in, position 0");
    check_number_named(block + "attn_norm.bias", 2, in_layer + "attn_in, position 0");
    check_number_named(block + "attn.W_q", 5, in_layer + "q, position 0");
    check_number_named(block + "attn.b_q", 5, in_layer + "q, position 0");
    check_number_named(block + "attn.W_k", 5, in_layer + "k, position 0");
    check_number_named(block + "attn.b_k", 5, in_layer + "k, position 0");
    check_number_named(block + "attn.W_v", 5, in_layer + "v, position 0");
    check_number_named(block + "attn.b_v", 5, in_layer + "v, position 0");
    check_number_named(block + "attn.W_o", 5, in_layer + "attn_out, position 0");
    check_number_named(block + "attn.b_o", 5, in_layer + "attn_out, position 0");
    for (const auto* name : {"mlp_norm.gain", "mlp_norm.bias"})
      check_number_named(block + name, 1, in_layer + "mlp_in, position 0");
    for (const auto* name : {"mlp.W_in", "mlp.b_in", "mlp.W_out", "mlp.b_out"})
      check_number_named(block + name, 1, in_layer + "mlp_out, position 0");
  }
  check_number_named("final_norm.gain", 0, "final_norm, position 5");
  check_number_named("final_norm.bias", 0, "final_norm, position 5");
}

TEST_CASE("the position is that of the token", "[generate]") {
  check_number_named("embedding.tokens", 4 * 12 + 1, "embedding, position 2");   // token 4 stands there
  check_number_named("embedding.tokens", 9 * 12 + 11, "embedding, position 5");  // and 9 there
  check_number_named("embedding.tokens", 16 * 12, "logits, position 5");         // 16 nowhere, but the head is tied
  check_number_named("embedding.positions", 3 * 12, "layer 0, residual, position 3");
}

TEST_CASE("infinity is named like NaN", "[generate]") {
  check_number_named("embedding.tokens", 1 * 12, "embedding, position 1", infinity);
  check_number_named("blocks.1.mlp.b_out", 0, "layer 1, mlp_out, position 0", -infinity);
}

TEST_CASE("numbers that grow too large are named where they do", "[generate]") {
  auto files = tiny_native();
  put(files, "blocks.1.attn.b_q", 4, 1e30F);  // head 1
  put(files, "blocks.1.attn.b_k", 4, 1e30F);
  check_named(files, "layer 1, scores, head 1, position 0");
  auto others = tiny_native();
  put(others, "blocks.0.mlp.b_in", 0, 1e30F);
  put(others, "blocks.0.mlp.W_out", 0, 1e30F);
  check_named(others, "layer 0, mlp_out, position 0");
}

TEST_CASE("a NaN that comes up only later ends the text there", "[generate]") {
  auto files = tiny_native();
  put(files, "embedding.positions", prompt.size() * 12, nan);
  const auto model = loaded(files);
  for (const bool cache : {false, true}) {
    Session session(model, 1);
    Sampler sampler({.temperature = 0.0});
    int told = 0;
    check_refused(ErrorCode::numbers,
                  [&] {
                    (void)generate(session, prompt, sampler, {.max_new_tokens = 3, .cache = cache},
                                   [&](const NewToken&) {
                                     ++told;
                                     return Next::go_on;
                                   });
                  },
                  {"layer 0, residual, position 6"});
    CHECK(told == 1);
  }
}

}  // namespace qkv::test
