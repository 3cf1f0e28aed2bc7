// qkv generate: text from a model, token by token.

#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <random>

#include "ablation_options.hpp"
#include "generate_output.hpp"
#include "interrupt.hpp"
#include "log.hpp"
#include "opened.hpp"
#include "option_values.hpp"
#include "program.hpp"
#include "qkv/core/error.hpp"
#include "qkv/generate/text_stream.hpp"
#include "qkv/inspect/recorder.hpp"
#include "table_output.hpp"

namespace qkv::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t most_tokens = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t random_seed = -1;

struct GenerateCommand {
  ModelOptions model;
  PromptOptions prompt;
  AblationOptions ablation;
  Sampling sampling;
  GenerateOptions options;
  std::int64_t seed = random_seed;
  std::vector<std::string> stops;
  bool echo = false;
  std::int64_t logprobs = 0;
  bool json = false;
  bool jsonl = false;
  std::string attention_file;
  bool force = false;
};

void add_sampling(CLI::App& command, GenerateCommand& generate) {
  auto& sampling = generate.sampling;
  add_number(command, "--temp", sampling.temperature, 0.0, 1e6, "Temperature; 0 takes the likeliest token");
  add_integer(command, "--top-k", sampling.top_k, 0, most_tokens, "Only the K likeliest tokens; 0 is off");
  add_number(command, "--top-p", sampling.top_p, 0.0, 1.0, "Only the likeliest that together reach X; 1 is off");
  add_number(command, "--min-p", sampling.min_p, 0.0, 1.0, "Only those at least X times as likely as the likeliest");
  add_number(command, "--repeat-penalty", sampling.repeat_penalty, 0.01, 100.0,
             "Against tokens already there; 1 is off");
  add_integer(command, "-s,--seed", generate.seed, 0, std::numeric_limits<std::int64_t>::max(), "Seed of the draws")
      ->default_str("random, and reported");
}

void add_options(CLI::App& command, GenerateCommand& generate) {
  generate.model.add_to(command);
  generate.prompt.add_to(command);
  auto& options = generate.options;
  add_integer(command, "-n,--n-predict", options.max_new_tokens, 0, most_tokens, "New tokens at most");
  add_sampling(command, generate);
  command.add_option("--stop", generate.stops, "End when this text comes (repeatable)")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  command.add_flag("--ignore-eos", options.ignore_eos, "Go on after an end token");
  command.add_flag("--echo", generate.echo, "Write the prompt too");
  command.add_flag("--cache", options.cache, "Keep keys and values instead of recomputing all at each step; same text");
  add_choice<Overflow>(
      command, "--on-overflow", options.overflow,
      {{"stop", Overflow::stop}, {"slide", Overflow::slide}, {"error", Overflow::error}},
      "When the context is full: end; go on with the begin token and the last half; refuse beforehand");
  add_integer(command, "--logprobs", generate.logprobs, 0, most_tokens,
              "With --json or --jsonl: the K likeliest of each step");
  auto* json = command.add_flag("--json", generate.json, "One JSON object at the end");
  command.add_flag("--jsonl", generate.jsonl, "One JSON object per token, then a summary")->excludes(json);
  generate.ablation.add_to(command);
  command
      .add_option("--attention", generate.attention_file,
                  "Write the attention weights over prompt and new tokens, one [L, H, n, n] array")
      ->type_name("FILE.npy");
  command.add_flag("--force", generate.force,
                   "Let --attention write more than 1 GiB, and over what is no earlier output");
}

TableOutput attention_output(const GenerateCommand& generate) {
  TableOutput output;
  output.format = "npy";
  output.file = generate.attention_file;
  output.force = generate.force;
  return output;
}

/// The one square table: the whole text is run once more, so that every row comes from the same pass.
void write_attention(const GenerateCommand& generate, Session& session, const Opened& opened,
                     const std::vector<TokenId>& new_ids) {
  auto ids = opened.prompt;
  ids.insert(ids.end(), new_ids.begin(), new_ids.end());
  const auto& config = opened.model.config();
  if (static_cast<std::int64_t>(ids.size()) == config.n_ctx + 1) {  // the last one was chosen, and never run
    log::warn(fmt::format("--attention: the last token is left out, since the model's context holds {}", config.n_ctx));
    ids.pop_back();
  }
  const auto n = static_cast<std::int64_t>(ids.size());
  const auto request = resolve({}, config);
  const TableDescription description{opened.model.name(), "weights", axes_of(request, config, n), opened.labels(ids),
                                     true};
  const auto output = attention_output(generate);
  output.announce(description);
  output.write([&](TableWriter& writer) { (void)inspect(session, ids, request, description, writer); });
}

/// What one command line could still get wrong, before anything is opened.
void check(const GenerateCommand& generate) {
  generate.prompt.check_ids_alone(!generate.stops.empty());
  for (const auto& stop : generate.stops)
    if (stop.empty()) throw Error(ErrorCode::usage, "--stop: expected a text, found an empty one");
  if (!generate.attention_file.empty()) {
    if (std::filesystem::path(generate.attention_file).extension() != ".npy")
      throw Error(ErrorCode::usage,
                  fmt::format("--attention: expected a name that ends with .npy, found '{}'", generate.attention_file));
    attention_output(generate).check();
  }
  if (generate.logprobs > 0 && !generate.json && !generate.jsonl)
    throw Error(ErrorCode::usage, "--logprobs: expected --json or --jsonl with it, found neither");
}

/// What is known about the room in the context before anything is run.
void check_room(const GenerateCommand& generate, const Opened& opened) {
  const auto& config = opened.model.config();
  if (generate.options.overflow != Overflow::slide) return;
  const auto length = static_cast<std::int64_t>(opened.prompt.size());
  if (!generate.attention_file.empty() && generate.options.max_new_tokens > config.n_ctx - length)
    throw Error(ErrorCode::input, fmt::format("--attention: expected a text that fits the model's context of {} "
                                              "(a smaller -n, or --on-overflow stop), found {} tokens and up to {} new "
                                              "ones",
                                              config.n_ctx, length, generate.options.max_new_tokens));
  if (const auto forgotten = forgotten_by_slide(config, opened.prompt); forgotten > 0)
    log::warn(
        fmt::format("prompt: {} of {} tokens are left out, since the model's context holds {} "
                    "(--on-overflow slide)",
                    forgotten, length, config.n_ctx));
}

std::unique_ptr<GenerateOutput> make_output(const GenerateCommand& generate, const Tokenizer* tokenizer) {
  if (generate.json || generate.jsonl) return json_output(tokenizer, generate.jsonl);
  return tokenizer == nullptr ? id_output() : text_output();
}

TokenRecord make_record(const NewToken& token, std::string shown, std::int64_t logprobs) {
  TokenRecord record{token.index, token.id, std::move(shown), {}, {}};
  if (logprobs > 0) {
    record.logprob = logprob_of(token.logits, token.id);
    record.likely = top_logprobs(token.logits, logprobs);
  }
  return record;
}

/// Generates into `output`, through the tokenizer where there is one. What was held back is written whatever happens.
Generation stream(const GenerateCommand& generate, Session& session, Sampler& sampler, std::span<const TokenId> prompt,
                  const Tokenizer* tokenizer, GenerateOutput& output) {
  std::optional<TextStream> text;
  if (tokenizer != nullptr) text.emplace(*tokenizer, prompt, generate.prompt.unescaped(generate.stops));
  if (text && generate.echo) output.text(text->prompt_text());
  const auto on_token = [&](const NewToken& token) {
    output.token(make_record(token, text ? text->push(token.id) : std::string(), generate.logprobs));
    if (text && text->stopped()) return Next::stop;
    return was_interrupted() ? Next::interrupt : Next::go_on;
  };
  try {
    auto generation = qkv::generate(session, prompt, sampler, generate.options, on_token);
    if (text) output.text(text->finish());
    return generation;
  } catch (const Error&) {
    if (text) output.text(text->finish());
    throw;
  }
}

void report(const GenerationSummary& summary) {
  const auto& generation = summary.generation;
  const auto total = generation.first_seconds + generation.rest_seconds;
  log::info(fmt::format(
      "{} new tokens in {:.2f} s ({:.0f} tokens/s, {}, {} thread{}), first after {:.1f} ms, seed {}, "
      "ended by {}{}",
      generation.ids.size(), total, static_cast<double>(generation.steps) / std::max(total, 1e-9),
      summary.cache ? "keys and values kept" : "everything recomputed", summary.threads,
      summary.threads == 1 ? "" : "s", 1e3 * (summary.load_seconds + generation.first_seconds), summary.sampling.seed,
      name_of(generation.reason), generation.reason == StopReason::interrupted ? " (the result is partial)" : ""));
}

int run(GenerateCommand& generate) {
  check(generate);
  const auto begun = Clock::now();
  const auto opened = open(generate.model, generate.prompt);
  check_room(generate, opened);
  const auto* vocabulary = opened.vocabulary();
  if (vocabulary == nullptr && !generate.stops.empty())
    throw Error(ErrorCode::model, "tokenizer: expected one for --stop, found none in the model directory");
  Session session(opened.model, static_cast<int>(generate.model.threads));
  const auto effect = generate.ablation.measure(opened, session.threads());
  session.ablate(generate.ablation.heads());
  generate.sampling.seed =
      generate.seed == random_seed ? std::random_device{}() : static_cast<std::uint64_t>(generate.seed);
  Sampler sampler(generate.sampling);
  const auto load_seconds = std::chrono::duration<double>(Clock::now() - begun).count();

  catch_interrupts();
  const auto output = make_output(generate, vocabulary);
  auto generation = stream(generate, session, sampler, opened.prompt, vocabulary, *output);
  const GenerationSummary summary{
      opened.model.name(),    opened.prompt,
      std::move(generation),  generate.sampling,
      generate.options.cache, session.threads(),
      load_seconds,           effect ? std::optional(ablation_json(*effect, generate.ablation, opened)) : std::nullopt};
  output->end(summary);
  report(summary);
  // JSON holds it already; a text has no place for it.
  const bool in_json = generate.json || generate.jsonl;
  if (effect) (in_json ? log::info : log::result)(ablation_text(*effect, generate.ablation, opened));
  if (!generate.attention_file.empty()) write_attention(generate, session, opened, summary.generation.ids);
  return summary.generation.reason == StopReason::interrupted ? interrupted : ok;
}

}  // namespace

void add_generate_command(Program& program) {
  auto* command = program.cli.add_subcommand("generate", "Generate text");
  auto generate = std::make_shared<GenerateCommand>();
  add_options(*command, *generate);
  command->callback([&program, generate] { program.run = [generate] { return run(*generate); }; });
}

}  // namespace qkv::app
