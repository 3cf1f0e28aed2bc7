// qkv attention: what happens inside, for one prompt.

#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <optional>
#include <string>

#include "interrupt.hpp"
#include "log.hpp"
#include "opened.hpp"
#include "option_values.hpp"
#include "output.hpp"
#include "output_format.hpp"
#include "program.hpp"
#include "qkv/core/error.hpp"
#include "qkv/generate/generate.hpp"
#include "qkv/inspect/recorder.hpp"
#include "qkv/inspect/similarity.hpp"
#include "qkv/model/choices.hpp"
#include "qkv/model/finite_check.hpp"
#include "table_output.hpp"

namespace qkv::app {
namespace {

constexpr std::string_view similarity_name = "similarity";

struct AttentionCommand {
  ModelOptions model;
  PromptOptions prompt;
  std::string what = "weights";
  std::string layers;
  std::string heads;
  std::int64_t new_tokens = 0;
  TableOutput output;
};

/// All names that --what takes.
std::vector<std::string> what_names() {
  std::vector<std::string> names;
  for (Places bit = 1; (bit & all_places) != 0; bit <<= 1U) names.emplace_back(name_of(static_cast<Place>(bit)));
  names.emplace_back(similarity_name);
  return names;
}

/// The prompt, and the tokens that greedy generation adds to it.
std::vector<TokenId> extend_greedily(Session& session, std::vector<TokenId> ids, std::int64_t new_tokens) {
  Sampler greedy({.temperature = 0.0});
  const auto generation =
      generate(session, ids, greedy,
               {.max_new_tokens = new_tokens, .cache = true, .ignore_eos = true, .overflow = Overflow::error},
               [](const NewToken&) { return was_interrupted() ? Next::interrupt : Next::go_on; });
  stop_if_interrupted();
  ids.insert(ids.end(), generation.ids.begin(), generation.ids.end());
  return ids;
}

/// The shape of each step and its size, for -v: an n x n table between two n x K ones.
void tell_shapes(const Config& config, std::int64_t n) {
  const auto& a = config.attention;
  const auto tell = [](const char* step, const Shape& shape) {
    log::debug(fmt::format("{:<44} {:<20} {} bytes", step, to_string(shape), element_count(shape).value_or(0) * 4));
  };
  tell("residual stream x", {n, config.d_model});
  tell("q = norm(x) W_q, all heads", {n, a.n_heads, a.head_dim});
  tell("k = norm(x) W_k, all key/value heads", {n, a.n_kv_heads, a.head_dim});
  tell("v = norm(x) W_v, all key/value heads", {n, a.n_kv_heads, a.head_dim});
  tell("one head: q", {n, a.head_dim});
  tell("one head: scores = scale q kT", {n, n});
  tell("one head: weights = softmax(scores)", {n, n});
  tell("one head: out = weights v", {n, a.head_dim});
  tell("heads side by side", {n, a.q_width()});
  tell("W_o mixes them back into the stream", {n, config.d_model});
}

void write_similarity(const Model& model, std::span<const TokenId> ids, const TableDescription& description,
                      TableWriter& writer) {
  const auto n = static_cast<std::int64_t>(ids.size());
  const auto numbers = similarity(model, ids);
  const auto table = numbers.view(n, n);
  writer.begin(description);
  for (std::int64_t t = 0; t < n; ++t) writer.row(table.row(t));
  writer.end();
}

/// What is coming for a text of n tokens; which tokens they are is not known yet.
TableDescription describe(const AttentionCommand& attention, const InspectRequest& request, const Model& model,
                          std::int64_t n) {
  TableDescription description{model.name(), attention.what, {}, {}, false};
  if (attention.what == similarity_name) {
    std::vector<std::int64_t> positions(static_cast<std::size_t>(n));
    std::iota(positions.begin(), positions.end(), 0);
    description.axes = {{"query", positions}, {"key", positions}};
  } else {
    description.axes = axes_of(request, model.config(), n);
    description.causal = request.place == Place::weights || request.place == Place::scores;
  }
  return description;
}

int run(const AttentionCommand& attention) {
  const bool is_similarity = attention.what == similarity_name;
  InspectRequest request;
  request.layers = parse_list(attention.layers, "--layer");
  request.heads = parse_list(attention.heads, "--head");
  if (is_similarity && (!request.layers.empty() || !request.heads.empty()))
    throw Error(ErrorCode::usage, "--what similarity: expected neither --layer nor --head, found one");
  if (!is_similarity) request.place = place_from_name(attention.what).value_or(Place::weights);
  attention.output.check();
  attention.prompt.check_ids_alone();

  const auto opened = open(attention.model, attention.prompt);
  const auto& config = opened.model.config();
  if (!is_similarity) request = resolve(request, config);
  const auto n = static_cast<std::int64_t>(opened.prompt.size()) + attention.new_tokens;
  if (n > config.n_ctx)
    throw Error(ErrorCode::input, fmt::format("prompt: expected at most {} tokens (the model's context){}, found {}",
                                              config.n_ctx, attention.new_tokens > 0 ? " with the new ones" : "", n));
  auto description = describe(attention, request, opened.model, n);
  attention.output.announce(description);
  tell_shapes(config, n);

  Session session(opened.model, static_cast<int>(attention.model.threads));
  catch_interrupts();
  const auto ids = extend_greedily(session, opened.prompt, attention.new_tokens);
  description.tokens = opened.labels(ids);
  if (opened.vocabulary() != nullptr) description.text_of = [&opened](TokenId id) { return opened.text_of(id); };
  bool finite = true;
  attention.output.write([&](TableWriter& writer) {
    if (is_similarity)
      write_similarity(opened.model, ids, description, writer);
    else
      finite = inspect(session, ids, request, description, writer);
  });
  if (!finite) throw Error(ErrorCode::numbers, describe_first_non_finite(session, ids));
  return ok;
}

}  // namespace

void add_attention_command(Program& program) {
  auto* command = program.cli.add_subcommand("attention", "Show the numbers inside: weights, scores, q, k, v, ...");
  auto attention = std::make_shared<AttentionCommand>();
  attention->model.add_to(*command);
  attention->prompt.add_to(*command);
  add_name(*command, "--what", attention->what, what_names(), "Which numbers");
  command->add_option("--layer", attention->layers, "Layers, in this order")->type_name("0,2,5-7")->default_str("all");
  command->add_option("--head", attention->heads, "Heads, in this order")->type_name("0,2,5-7")->default_str("all");
  add_integer(*command, "-n,--n-predict", attention->new_tokens, 0, 1 << 20,
              "Generate N tokens first, greedily, and include them");
  attention->output.add_to(*command);
  command->callback([&program, attention] { program.run = [attention] { return run(*attention); }; });
}

}  // namespace qkv::app
