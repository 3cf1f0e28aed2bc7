#pragma once

#include <memory>
#include <optional>
#include <string>

#include "opened.hpp"
#include "output.hpp"
#include "qkv/inspect/score.hpp"

namespace qkv::app {

/// What a scored text comes to.
struct ScoreReport {
  ScoreTotals totals;
  std::optional<std::int64_t> bytes;  // that the scored tokens stand for, where there is a tokenizer

  [[nodiscard]] std::optional<double> bits_per_byte() const;
};

/// What stands above the tokens.
struct ScoreHeading {
  Windows windows;
  std::string ablated;  // "3:0 4:1"
  std::int64_t top = 0;
  bool summary_only = false;
};

/// Writes tokens to standard output as they are scored, and what they come to in the end.
class ScoreOutput {
 public:
  ScoreOutput(const Opened& opened, ScoreHeading heading) : opened_(opened), heading_(std::move(heading)) {}
  virtual ~ScoreOutput() = default;
  ScoreOutput(const ScoreOutput&) = delete;
  ScoreOutput& operator=(const ScoreOutput&) = delete;

  virtual void begin() = 0;
  virtual void token(const TokenScore& score) = 0;
  virtual void end(const ScoreReport& report) = 0;

 protected:
  [[nodiscard]] const Opened& opened() const { return opened_; }
  [[nodiscard]] const ScoreHeading& heading() const { return heading_; }

 private:
  const Opened& opened_;
  ScoreHeading heading_;
};

/// `format` is table, csv or json. `opened` must outlive it.
[[nodiscard]] std::unique_ptr<ScoreOutput> make_score_output(const std::string& format, const Opened& opened,
                                                             ScoreHeading heading);

}  // namespace qkv::app
