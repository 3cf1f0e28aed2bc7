#include "score_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "log.hpp"
#include "qkv/core/utf8.hpp"
#include "qkv/inspect/writers/csv_writer.hpp"

namespace qkv::app {
namespace {

std::string quoted(const std::string& text) { return fmt::format("'{}'", escape_controls(text)); }

/// One row a token, then the summary in words.
class ScoreTable : public ScoreOutput {
 public:
  using ScoreOutput::ScoreOutput;

  void begin() override {
    if (heading().summary_only) return;
    if (heading().top > 0)
      for (const auto id : opened().prompt)
        token_width_ = std::max(token_width_, display_width(quoted(opened().text_of(id))));
    const auto likeliest = heading().top > 0 ? pad("token") + "  likeliest" : std::string("token");
    write_out(fmt::format("{:>8}  {:>7}  {:>9}  {:>11}  {:>6}  {}\n", "position", "id", "logprob", "probability",
                          "rank", likeliest));
  }

  void token(const TokenScore& score) override {
    if (heading().summary_only) return;
    auto line = fmt::format("{:>8}  {:>7}  ", score.position, score.id);
    line += score.logprob
                ? fmt::format("{:>9.4f}  {:>11.3g}  {:>6}  ", *score.logprob, std::exp(*score.logprob), score.rank)
                : fmt::format("{:>9}  {:>11}  {:>6}  ", "n/a", "n/a", "n/a");
    const auto text = quoted(opened().text_of(score.id));
    line += score.top.empty() ? text : pad(text);
    for (const auto& [id, logprob] : score.top)
      line += fmt::format("  {} {:.3f}", quoted(opened().text_of(id)), std::exp(logprob));
    write_out(line + "\n");
  }

  void end(const ScoreReport& report) override {
    const auto& totals = report.totals;
    std::string text = heading().summary_only ? "" : "\n";
    const auto line = [&](const char* what, const std::string& value) {
      text += fmt::format("{:<29} {}\n", what, value);
    };
    line("tokens", fmt::format("{}", totals.tokens));
    line("scored", fmt::format("{}", totals.scored));
    line("mean negative log-likelihood",
         totals.scored > 0 ? fmt::format("{:.6f} nats a token", totals.mean_loss()) : "n/a");
    const auto bits = report.bits_per_byte();
    line("bits per byte", bits ? fmt::format("{:.6f} ({} bytes)", *bits, *report.bytes) : "n/a");
    line("perplexity", totals.scored > 0 ? fmt::format("{:.6f}", totals.perplexity()) : "n/a");
    line("windows", fmt::format("{} tokens, each {} further", heading().windows.window, heading().windows.stride));
    if (!heading().ablated.empty()) line("without heads", heading().ablated);
    if (!totals.complete) line("complete", "no, interrupted");
    write_out(text);
  }

 private:
  [[nodiscard]] std::string pad(const std::string& text) const {
    constexpr std::size_t widest = 24;
    const auto wanted = std::min(token_width_, widest);
    return text + std::string(wanted - std::min(wanted, display_width(text)), ' ');
  }

  std::size_t token_width_ = 5;
};

/// Only rows, so that a program can read them; the summary goes to stderr unless it is all that is wanted.
class ScoreCsv : public ScoreOutput {
 public:
  using ScoreOutput::ScoreOutput;

  void begin() override {
    if (heading().summary_only) return;
    std::string titles = "position,id,token,logprob,probability,rank,context";
    for (std::int64_t k = 1; k <= heading().top; ++k)
      titles += fmt::format(",top{0}_id,top{0}_token,top{0}_logprob", k);
    write_out(titles + "\r\n");
  }

  void token(const TokenScore& score) override {
    if (heading().summary_only) return;
    auto line = fmt::format("{},{},{},", score.position, score.id, csv_field(opened().text_of(score.id)));
    line += score.logprob
                ? fmt::format("{},{},{},{}", *score.logprob, std::exp(*score.logprob), score.rank, score.context)
                : fmt::format(",,,{}", score.context);
    for (const auto& [id, logprob] : score.top)
      line += fmt::format(",{},{},{}", id, csv_field(opened().text_of(id)), logprob);
    const auto missing = static_cast<std::size_t>(3 * (heading().top - static_cast<std::int64_t>(score.top.size())));
    write_out(line + std::string(missing, ',') + "\r\n");
  }

  void end(const ScoreReport& report) override {
    const auto& totals = report.totals;
    const auto bits = report.bits_per_byte();
    if (heading().summary_only)
      write_out(fmt::format("tokens,scored,mean_loss_nats,bytes,bits_per_byte,perplexity\r\n{},{},{},{},{},{}\r\n",
                            totals.tokens, totals.scored,
                            totals.scored > 0 ? fmt::format("{}", totals.mean_loss()) : "",
                            report.bytes ? fmt::format("{}", *report.bytes) : "", bits ? fmt::format("{}", *bits) : "",
                            totals.scored > 0 ? fmt::format("{}", totals.perplexity()) : ""));
    else
      log::result(fmt::format("{} tokens, {} scored, {:.6f} nats a token, perplexity {:.6f}", totals.tokens,
                              totals.scored, totals.mean_loss(), totals.perplexity()));
  }
};

/// One object, its tokens written as they come, so that memory does not grow with the text.
class ScoreJson : public ScoreOutput {
 public:
  using ScoreOutput::ScoreOutput;

  void begin() override {
    OrderedJson object{{"schema", "qkv.score/1"}};
    put_text(object, "model", opened().model.name());
    object["window"] = heading().windows.window;
    object["stride"] = heading().windows.stride;
    object["without_heads"] = heading().ablated;
    auto text = object.dump();
    text.pop_back();  // the brace: more follows
    write_out(text + (heading().summary_only ? "" : ",\"tokens\":["));
  }

  void token(const TokenScore& score) override {
    if (heading().summary_only) return;
    OrderedJson one{{"position", score.position}, {"id", score.id}};
    put_text(one, "text", opened().text_of(score.id));
    one["logprob"] = score.logprob ? OrderedJson(*score.logprob) : OrderedJson(nullptr);
    one["probability"] = score.logprob ? OrderedJson(std::exp(*score.logprob)) : OrderedJson(nullptr);
    one["rank"] = score.logprob ? OrderedJson(score.rank) : OrderedJson(nullptr);
    one["context"] = score.context;
    if (heading().top > 0) one["top"] = top_json(score);
    write_out((score.position > 0 ? "," : "") + one.dump());
  }

  void end(const ScoreReport& report) override {
    const auto& totals = report.totals;
    const auto if_any = [&](double value) { return totals.scored > 0 ? OrderedJson(value) : OrderedJson(nullptr); };
    OrderedJson summary{{"tokens", totals.tokens}, {"scored", totals.scored}, {"logprob", totals.logprob}};
    summary["mean_loss_nats"] = if_any(totals.mean_loss());
    summary["bytes"] = report.bytes ? OrderedJson(*report.bytes) : OrderedJson(nullptr);
    const auto bits = report.bits_per_byte();
    summary["bits_per_byte"] = bits ? OrderedJson(*bits) : OrderedJson(nullptr);
    summary["perplexity"] = if_any(totals.perplexity());
    summary["complete"] = totals.complete;
    write_out(fmt::format("{},\"summary\":{}}}\n", heading().summary_only ? "" : "]", summary.dump()));
  }

 private:
  [[nodiscard]] OrderedJson top_json(const TokenScore& score) const {
    auto list = OrderedJson::array();
    for (const auto& [id, logprob] : score.top) {
      OrderedJson one{{"id", id}};
      put_text(one, "text", opened().text_of(id));
      one["logprob"] = logprob;
      list.push_back(std::move(one));
    }
    return list;
  }
};

}  // namespace

std::optional<double> ScoreReport::bits_per_byte() const {
  if (!bytes || *bytes == 0 || totals.scored == 0) return std::nullopt;
  return -totals.logprob / std::numbers::ln2 / static_cast<double>(*bytes);
}

std::unique_ptr<ScoreOutput> make_score_output(const std::string& format, const Opened& opened, ScoreHeading heading) {
  if (format == "json") return std::make_unique<ScoreJson>(opened, std::move(heading));
  if (format == "csv") return std::make_unique<ScoreCsv>(opened, std::move(heading));
  return std::make_unique<ScoreTable>(opened, std::move(heading));
}

}  // namespace qkv::app
