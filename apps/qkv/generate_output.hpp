#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "output.hpp"
#include "qkv/generate/generate.hpp"
#include "qkv/tokenizer/tokenizer.hpp"

namespace qkv::app {

/// A new token as it is written.
struct TokenRecord {
  std::int64_t index;
  TokenId id;
  std::string shown;                 // text that became whole with this token
  std::optional<double> logprob;     // of this token
  std::vector<TokenLogprob> likely;  // the likeliest instead
};

/// What is known of a generation at its end.
struct GenerationSummary {
  std::string model;
  std::vector<TokenId> prompt_ids;
  Generation generation;
  Sampling sampling;
  bool cache;
  int threads;
  double load_seconds;
  std::optional<OrderedJson> ablation;
};

/// Where a generation goes: one of these per output form.
class GenerateOutput {
 public:
  virtual ~GenerateOutput() = default;
  /// Text that belongs to no token: an echoed prompt, what was held back to the end.
  virtual void text(std::string_view bytes) = 0;
  virtual void token(const TokenRecord& token) = 0;
  virtual void end(const GenerationSummary& summary) = 0;
};

/// The text itself, as it comes, byte for byte.
[[nodiscard]] std::unique_ptr<GenerateOutput> text_output();
/// Ids separated by commas, for a model without a tokenizer.
[[nodiscard]] std::unique_ptr<GenerateOutput> id_output();
/// One JSON object at the end; with `each_token` one per token before it, each on its line. `tokenizer` may be null.
[[nodiscard]] std::unique_ptr<GenerateOutput> json_output(const Tokenizer* tokenizer, bool each_token);

}  // namespace qkv::app
