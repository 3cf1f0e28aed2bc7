// qkv score: how likely a model holds each token of a text, and the text's perplexity.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>

#include "ablation_options.hpp"
#include "interrupt.hpp"
#include "log.hpp"
#include "opened.hpp"
#include "option_values.hpp"
#include "program.hpp"
#include "progress_line.hpp"
#include "qkv/core/error.hpp"
#include "score_output.hpp"

namespace qkv::app {
namespace {

constexpr std::int64_t most_tokens = std::numeric_limits<std::int32_t>::max();

struct ScoreCommand {
  ModelOptions model;
  PromptOptions prompt;
  AblationOptions ablation;
  Windows windows;
  std::int64_t top = 0;
  std::string format = "table";
  bool summary = false;
};

/// Bytes that the scored tokens stand for: all that were read, but for the first. None without a tokenizer, or with one
/// that does not know them all.
std::optional<std::int64_t> scored_bytes(const Opened& opened, const ScoreTotals& totals) {
  if (opened.vocabulary() == nullptr) return std::nullopt;
  const std::span<const TokenId> read(opened.prompt.data(), static_cast<std::size_t>(totals.tokens));
  try {
    const auto all = opened.vocabulary()->decode(read).size();
    const auto first = opened.vocabulary()->decode(read.first(1)).size();
    return static_cast<std::int64_t>(all) - static_cast<std::int64_t>(first);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// A line on stderr, unless rows come out on the same terminal.
void show_progress(ProgressLine& line, const ScoreTotals& totals, std::size_t count) {
  if (!line.is_due() || totals.scored == 0) return;
  line.show(fmt::format("scoring: {} of {} tokens ({} %), perplexity {:.4g}", totals.tokens, count,
                        static_cast<std::size_t>(totals.tokens) * 100 / count, totals.perplexity()));
}

ScoreTotals score(const ScoreCommand& command, const Opened& opened, std::int64_t top, Session& session,
                  ScoreOutput& output) {
  ScoreOptions options{command.windows, top, [] { return !was_interrupted(); }};
  const bool shows = log::shows_progress() && (command.summary || !stdout_is_terminal());
  ProgressLine line;
  ScoreTotals so_far;
  return score_text(session, opened.prompt, options, [&](const TokenScore& one) {
    output.token(one);
    ++so_far.tokens;
    so_far.scored += one.logprob ? 1 : 0;
    so_far.logprob += one.logprob.value_or(0.0);
    if (shows) show_progress(line, so_far, opened.prompt.size());
  });
}

int run(const ScoreCommand& command) {
  command.prompt.check_ids_alone();
  const auto heads = command.ablation.heads();
  const auto opened = open(command.model, command.prompt);
  const auto windows = resolve_windows(command.windows, opened.model.config());
  if (opened.prompt.size() < 2)
    throw Error(ErrorCode::input, fmt::format("input: expected at least two tokens, since the first has no score, "
                                              "found {}",
                                              opened.prompt.size()));
  const auto top = std::min(command.top, opened.model.config().n_vocab);
  Session session(opened.model, static_cast<int>(command.model.threads));
  session.ablate(heads);

  catch_interrupts();
  const auto output =
      make_score_output(command.format, opened, {windows, command.ablation.names(), top, command.summary});
  output->begin();
  const auto totals = score(command, opened, top, session, *output);
  output->end({totals, scored_bytes(opened, totals)});
  if (totals.complete) return ok;
  log::warn("interrupted: the result is partial");
  return interrupted;
}

}  // namespace

void add_score_command(Program& program) {
  auto* command = program.cli.add_subcommand("score", "Score each token of a text, and the whole text (perplexity)");
  auto score = std::make_shared<ScoreCommand>();
  score->model.add_to(*command);
  score->prompt.add_to(*command);
  add_integer(*command, "--window", score->windows.window, 2, most_tokens, "Tokens that the model sees at once at most")
      ->default_str("the model's context");
  add_integer(*command, "--stride", score->windows.stride, 1, most_tokens,
              "How many tokens later each window begins; a token is scored by the first window that holds it")
      ->default_str("half the window");
  add_integer(*command, "--top", score->top, 0, most_tokens, "Show the K likeliest tokens at each position");
  score->ablation.add_to(*command);
  add_name(*command, "--format", score->format, {"table", "csv", "json"}, "Output");
  command->add_flag("--summary", score->summary, "Only what the text comes to, not each token");
  command->callback([&program, score] { program.run = [score] { return run(*score); }; });
}

}  // namespace qkv::app
