#include "ablation_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "option_values.hpp"
#include "qkv/core/error.hpp"
#include "qkv/core/utf8.hpp"

namespace qkv::app {
namespace {

constexpr std::int64_t likeliest_shown = 5;

std::string likely_text(const std::vector<TokenLogprob>& likely, const Opened& opened) {
  std::string text;
  for (const auto& [id, logprob] : likely)
    text +=
        fmt::format("{}'{}' {:.3f}", text.empty() ? "" : "  ", escape_controls(opened.text_of(id)), std::exp(logprob));
  return text;
}

OrderedJson likely_json(const std::vector<TokenLogprob>& likely, const Opened& opened) {
  auto list = OrderedJson::array();
  for (const auto& [id, logprob] : likely) {
    OrderedJson one{{"id", id}};
    put_text(one, "token", opened.text_of(id));
    one["logprob"] = logprob;
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace

void AblationOptions::add_to(CLI::App& command) {
  command.add_option("--ablate", texts_, "Leave out what this head contributes (repeatable)")
      ->type_name("L:H")
      ->allow_extra_args(false);
}

std::vector<HeadId> AblationOptions::heads() const {
  std::vector<HeadId> heads;
  for (const auto& text : texts_) {
    const auto colon = text.find(':');
    const auto layer = parse_integer(std::string_view(text).substr(0, colon));
    const auto head =
        colon == std::string::npos ? std::nullopt : parse_integer(std::string_view(text).substr(colon + 1));
    if (!layer || !head)
      throw Error(ErrorCode::usage, fmt::format("--ablate: expected LAYER:HEAD such as 3:0, found '{}'", text));
    heads.push_back({*layer, *head});
  }
  return heads;
}

std::string AblationOptions::names() const { return fmt::format("{}", fmt::join(texts_, " ")); }

std::optional<AblationEffect> AblationOptions::measure(const Opened& opened, int threads) const {
  if (texts_.empty()) return std::nullopt;
  return measure_ablation(opened.model, threads, opened.prompt, heads(), likeliest_shown);
}

std::string ablation_text(const AblationEffect& effect, const AblationOptions& options, const Opened& opened) {
  return fmt::format("next token with all heads:  {}\nnext token without {}:  {}\nKL divergence: {:.4g} nats",
                     likely_text(effect.before, opened), options.names(), likely_text(effect.after, opened),
                     effect.kl_divergence);
}

OrderedJson ablation_json(const AblationEffect& effect, const AblationOptions& options, const Opened& opened) {
  return {{"heads", options.names()},
          {"before", likely_json(effect.before, opened)},
          {"after", likely_json(effect.after, opened)},
          {"kl_divergence_nats", effect.kl_divergence}};
}

}  // namespace qkv::app
