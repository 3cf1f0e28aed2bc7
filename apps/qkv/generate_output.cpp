#include "generate_output.hpp"

#include <fmt/format.h>

namespace qkv::app {
namespace {

class TextOutput : public GenerateOutput {
 public:
  void text(std::string_view bytes) override {
    if (bytes.empty()) return;
    write_out_now(bytes);
    last_ = bytes.back();
  }
  void token(const TokenRecord& token) override { text(token.shown); }
  void end(const GenerationSummary&) override {
    if (stdout_is_terminal() && last_ != '\n') write_out_now("\n");  // so that the shell's prompt begins a line
  }

 private:
  char last_ = '\n';
};

class IdOutput : public GenerateOutput {
 public:
  void text(std::string_view) override {}
  void token(const TokenRecord& token) override {
    write_out_now(fmt::format("{}{}", token.index == 0 ? "" : ",", token.id));
  }
  void end(const GenerationSummary&) override { write_out_now("\n"); }
};

OrderedJson sampling_json(const Sampling& sampling) {
  return {{"temperature", sampling.temperature},
          {"top_k", sampling.top_k},
          {"top_p", sampling.top_p},
          {"min_p", sampling.min_p},
          {"repeat_penalty", sampling.repeat_penalty}};
}

OrderedJson timing_json(const GenerationSummary& summary) {
  const auto& generation = summary.generation;
  const auto total = generation.first_seconds + generation.rest_seconds;
  return {{"loop", summary.cache ? "cached" : "recompute"},
          {"threads", summary.threads},
          {"load_seconds", summary.load_seconds},
          {"first_token_seconds", generation.first_seconds},
          {"total_seconds", total},
          {"steps", generation.steps},
          {"tokens_per_second", total > 0.0 ? static_cast<double>(generation.steps) / total : 0.0}};
}

class JsonOutput : public GenerateOutput {
 public:
  JsonOutput(const Tokenizer* tokenizer, bool each_token) : tokenizer_(tokenizer), each_token_(each_token) {}

  void text(std::string_view bytes) override { text_ += bytes; }

  void token(const TokenRecord& token) override {
    text_ += token.shown;
    if (token.logprob) logprobs_.push_back(logprob_json(token));
    if (!each_token_) return;
    OrderedJson line{{"index", token.index}, {"id", token.id}};
    put_text(line, "text", token.shown);
    if (token.logprob) line.update(logprobs_.back());
    write_out_now(line.dump() + "\n");
  }

  void end(const GenerationSummary& summary) override {
    OrderedJson object{{"schema", "qkv.generate/1"},
                       {"model", replace_invalid(summary.model)},
                       {"prompt_ids", summary.prompt_ids},
                       {"ids", summary.generation.ids}};
    if (tokenizer_ == nullptr)
      object["text"] = nullptr;
    else
      put_text(object, "text", text_);
    object["stop_reason"] = name_of(summary.generation.reason);
    object["seed"] = summary.sampling.seed;
    object["sampling"] = sampling_json(summary.sampling);
    object["logprobs"] = logprobs_;
    if (summary.ablation) object["ablation"] = *summary.ablation;
    object["timing"] = timing_json(summary);
    write_out_now(object.dump() + "\n");
  }

 private:
  static std::string replace_invalid(std::string_view text) {
    OrderedJson holder;
    put_text(holder, "text", text);
    return holder["text"];
  }

  [[nodiscard]] OrderedJson logprob_json(const TokenRecord& token) const {
    OrderedJson entry{{"id", token.id}, {"logprob", *token.logprob}, {"top", OrderedJson::array()}};
    for (const auto& likely : token.likely) {
      OrderedJson one{{"id", likely.id}};
      if (tokenizer_ != nullptr) put_text(one, "token", bytes_of(likely.id));
      one["logprob"] = likely.logprob;
      entry["top"].push_back(std::move(one));
    }
    return entry;
  }

  /// Some models have more rows in their head than their tokenizer has tokens.
  [[nodiscard]] std::string bytes_of(TokenId id) const {
    return static_cast<std::size_t>(id) < tokenizer_->size() ? tokenizer_->bytes(id) : std::string();
  }

  const Tokenizer* tokenizer_;
  bool each_token_;
  std::string text_;
  OrderedJson logprobs_;  // null as long as none were asked for
};

}  // namespace

std::unique_ptr<GenerateOutput> text_output() { return std::make_unique<TextOutput>(); }
std::unique_ptr<GenerateOutput> id_output() { return std::make_unique<IdOutput>(); }
std::unique_ptr<GenerateOutput> json_output(const Tokenizer* tokenizer, bool each_token) {
  return std::make_unique<JsonOutput>(tokenizer, each_token);
}

}  // namespace qkv::app
