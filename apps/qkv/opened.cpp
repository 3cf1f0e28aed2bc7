#include "opened.hpp"

#include <fmt/format.h>

#include "qkv/model/container.hpp"
#include "qkv/model/session.hpp"

namespace qkv::app {

std::string Opened::text_of(TokenId id) const {
  const bool known = tokenizer && static_cast<std::size_t>(id) < tokenizer->size();
  return known ? tokenizer->bytes(id) : fmt::format("{}", id);
}

std::vector<TokenLabel> Opened::labels(std::span<const TokenId> ids) const {
  std::vector<TokenLabel> labels;
  for (const auto id : ids) labels.push_back({id, text_of(id)});
  return labels;
}

Opened open(const ModelOptions& model_options, const PromptOptions& prompt_options) {
  require_container(model_options.path());  // else the tokenizer would be the first that is missed
  auto tokenizer = prompt_options.open_tokenizer(model_options.path());
  auto model = model_options.load();
  auto prompt = prompt_options.read_ids(tokenizer ? &*tokenizer : nullptr, model.config().bos);
  const bool may_begin = !prompt_options.has_ids() && prompt_options.bos == Bos::automatic;
  if (prompt.empty() && may_begin && model.config().bos) prompt.push_back(*model.config().bos);
  check_ids(model.config(), prompt);
  return {std::move(tokenizer), std::move(model), std::move(prompt)};
}

}  // namespace qkv::app
