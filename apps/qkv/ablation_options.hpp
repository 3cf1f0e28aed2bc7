#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "opened.hpp"
#include "output.hpp"
#include "qkv/inspect/ablation.hpp"

namespace qkv::app {

/// --ablate L:H, repeatable: heads whose contribution is left out before W_o.
class AblationOptions {
 public:
  void add_to(CLI::App& command);

  /// Throws Error{usage} for a text that is no L:H.
  [[nodiscard]] std::vector<HeadId> heads() const;
  /// "3:0 4:1"
  [[nodiscard]] std::string names() const;
  /// What the distribution of the token after the prompt becomes; nothing when no head is left out.
  [[nodiscard]] std::optional<AblationEffect> measure(const Opened& opened, int threads) const;

 private:
  std::vector<std::string> texts_;
};

/// For people: the likeliest tokens before and after, and the divergence.
[[nodiscard]] std::string ablation_text(const AblationEffect& effect, const AblationOptions& options,
                                        const Opened& opened);
[[nodiscard]] OrderedJson ablation_json(const AblationEffect& effect, const AblationOptions& options,
                                        const Opened& opened);

}  // namespace qkv::app
