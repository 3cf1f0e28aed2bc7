// The shell functions that qkv completion writes, as a shell runs them.

#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/run_program.hpp"

namespace qkv::test {
namespace {

/// What bash offers for the last of these words.
std::string offered(const std::string& words) {
  const auto run =
      run_program({"-c", "source <(" + std::string(QKV_PROGRAM) + " completion bash); COMP_WORDS=(qkv " + words +
                             "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _qkv; echo \"${COMPREPLY[*]}\""},
                  {.program = "/bin/bash"});
  CHECK(run.err.empty());
  CHECK(run.status == 0);
  return run.out.substr(0, run.out.find('\n'));
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("bash completes commands, options and values", "[cli]") {
  CHECK(offered("gen") == "generate");
  CHECK(offered("attention --wh") == "--what");
  CHECK(offered("attention --what res") == "residual residual_mid");
  CHECK(offered("attention --what = res") == "residual residual_mid");
  CHECK(offered("-q attention --format s") == "safetensors svg");
  CHECK(offered("tokenize --format ''") == "table json ids");
  CHECK(offered("generate --backend op") == "openblas");
  CHECK(offered("time --shape gpt2-m") == "gpt2-medium");
  CHECK(offered("--color a") == "auto always");
  CHECK(offered("heads --color n") == "never");
  CHECK(offered("completion z") == "zsh");
  // A file or a number: bash is left with nothing, and offers files by itself.
  CHECK(offered("attention -o ''").empty());
  CHECK(offered("generate -m ''").empty());
  CHECK(has(run_program({"completion", "bash"}).out, "complete -o default -F _qkv qkv"));
}

TEST_CASE("zsh and fish complete the same", "[cli]") {
  const auto zsh = run_program({"completion", "zsh"}).out;
  CHECK(zsh == "autoload -U +X bashcompinit && bashcompinit\n" + run_program({"completion", "bash"}).out);
  const auto fish = run_program({"completion", "fish"}).out;
  const auto of = [](const std::string& command) {
    return "complete -c qkv -n '__fish_seen_subcommand_from " + command + "' ";
  };
  CHECK(has(fish, of("attention") + "-l what -x -a 'embedding "));
  CHECK(has(fish, of("attention") + "-s o -r\n"));
  CHECK(has(fish, of("attention") + "-l force\n"));
  CHECK(has(fish, of("attention") + "-l layer -x\n"));
  CHECK(has(fish, of("time") + "-l shape -r -a 'gpt2 "));
  CHECK(has(fish, of("completion") + "-f -a 'bash zsh fish'\n"));
  CHECK(has(fish, "complete -c qkv -l color -x -a 'auto always never'\n"));
}

}  // namespace qkv::test
