// qkv time: how long a forward pass takes, where the time goes, and how far that is from what the machine can do.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "input.hpp"
#include "interrupt.hpp"
#include "log.hpp"
#include "model_options.hpp"
#include "option_values.hpp"
#include "output.hpp"
#include "output_format.hpp"
#include "program.hpp"
#include "qkv/core/error.hpp"
#include "qkv/core/utf8.hpp"
#include "qkv/model/container.hpp"
#include "qkv/model/session.hpp"
#include "qkv/model/shapes.hpp"
#include "qkv/timing/accuracy.hpp"
#include "qkv/timing/growth_chart.hpp"
#include "qkv/timing/time_forward.hpp"
#include "qkv/tokenizer/tokenizer.hpp"
#include "time_output.hpp"
#include "version.hpp"

namespace qkv::app {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t shape_seed = 1;
constexpr std::array<std::int64_t, 4> usual_lengths{1, 16, 64, 256};

struct TimeFormat {
  std::string_view name;
  std::string (*text)(const TimingReport& report, const Baseline* baseline);
};
constexpr std::array formats{TimeFormat{"table", timing_table}, TimeFormat{"md", timing_markdown},
                             TimeFormat{"csv", timing_csv}, TimeFormat{"json", timing_json},
                             TimeFormat{"jsonl", timing_jsonl}};

struct TimeCommand {
  ModelOptions model;
  std::string shape;
  std::string threads;
  std::string lengths;
  std::string modes = "recompute,cached";
  std::int64_t repetitions = 10;
  std::int64_t warmup = 2;
  bool breakdown = false;
  std::string format = "table";
  std::string baseline;
  std::string plot;
  bool accuracy = false;
  std::string text;
  bool force = false;
};

std::vector<std::string> shape_names() {
  std::vector<std::string> names;
  for (const auto& shape : named_shapes()) names.emplace_back(shape.name);
  return names;
}

/// The config.json that --shape means: by name, or a file.
JsonReader shape_config(const std::string& shape) {
  for (const auto& known : named_shapes())
    if (known.name == shape) return {shape, parse_json(known.config, shape)};
  std::error_code error;
  if (!fs::exists(shape, error))
    throw Error(ErrorCode::usage, fmt::format("--shape: expected a config.json or one of {}, found '{}'",
                                              fmt::join(shape_names(), ", "), shape));
  return JsonReader::open(fs::is_directory(shape, error) ? fs::path(shape) / "config.json" : fs::path(shape));
}

Model open_model(const TimeCommand& time) {
  if (time.shape.empty()) return time.model.load();
  ProgressLine line;
  return Model::random(shape_config(time.shape), shape_seed, time.model.load_options(line));
}

void require_each_once(const std::vector<std::int64_t>& numbers, std::int64_t min, std::int64_t max,
                       std::string_view option) {
  std::set<std::int64_t> seen;
  for (const auto number : numbers) {
    if (number < min || number > max)
      throw Error(ErrorCode::usage, fmt::format("{}: expected {} to {}, found {}", option, min, max, number));
    if (!seen.insert(number).second)
      throw Error(ErrorCode::usage, fmt::format("{}: expected each number once, found {} twice", option, number));
  }
}

std::vector<std::int64_t> chosen_lengths(const TimeCommand& time, const Config& config) {
  auto lengths = parse_list(time.lengths, "--lengths");
  if (lengths.empty()) {
    std::vector<std::int64_t> too_long;
    for (const auto length : usual_lengths) (length <= config.n_ctx ? lengths : too_long).push_back(length);
    if (!too_long.empty())
      log::info(fmt::format("--lengths: of the usual ones {} left out, longer than the model's context of {}",
                            fmt::join(too_long, ", "), config.n_ctx));
  }
  require_each_once(lengths, 1, config.n_ctx, "--lengths");
  return lengths;
}

std::vector<int> chosen_threads(const TimeCommand& time) {
  const auto numbers = parse_list(time.threads, "--threads");
  require_each_once(numbers, 1, most_threads, "--threads");
  std::vector<int> threads;
  for (const auto number : numbers) threads.push_back(static_cast<int>(number));
  return threads;
}

std::vector<Mode> chosen_modes(const std::string& text) {
  if (text == "both") return {Mode::recompute, Mode::cached};
  std::vector<Mode> modes;
  for (std::size_t at = 0; at <= text.size();) {
    const auto comma = std::min(text.find(',', at), text.size());
    const auto name = text.substr(at, comma - at);
    at = comma + 1;
    const auto mode = name == name_of(Mode::recompute) ? Mode::recompute : Mode::cached;
    if (name != name_of(mode) || std::find(modes.begin(), modes.end(), mode) != modes.end())
      throw Error(ErrorCode::usage, fmt::format("--mode: expected recompute, cached or both, found '{}'", text));
    modes.push_back(mode);
  }
  return modes;
}

/// How --plot is written: by the ending of its name.
const OutputFormat& plot_format(const std::string& file) {
  const auto ending = fs::path(file).extension().string();
  for (const auto* name : {".svg", ".png", ".pdf"})
    if (ending == name) return find_format(ending.substr(1), file);
  throw Error(ErrorCode::usage,
              fmt::format("--plot: expected a name that ends with .svg, .png or .pdf, found '{}'", file));
}

void write_plot(const std::string& file, const TimingReport& report) {
  const auto& name = plot_format(file).name;
  const auto format = name == "svg" ? PictureFormat::svg : name == "png" ? PictureFormat::png : PictureFormat::pdf;
  AtomicFile sink(file);
  draw::draw_line_chart(sink, format, growth_chart(report));
  sink.commit();
}

/// What could still be wrong, before anything large is opened.
void check(const TimeCommand& time) {
  if (!time.plot.empty()) {
    const auto& format = plot_format(time.plot);
    if (!time.force) refuse_to_overwrite(time.plot, format);
  }
  (void)parse_list(time.lengths, "--lengths");
  (void)chosen_threads(time);
  (void)chosen_modes(time.modes);
  if (time.accuracy && time.model.precision == ops::name_of(ops::Precision::f32))
    throw Error(ErrorCode::usage,
                "--accuracy: expected --precision bf16, whose accuracy is compared with f32's, found f32");
  if (!time.text.empty() && !fs::is_regular_file(time.text))
    throw Error(ErrorCode::usage, fmt::format("--text: expected a text file, found '{}'", time.text));
}

/// One line, whatever the number of rows: how many are in doubt, and the first few with the reason.
void warn_of_doubts(const TimingReport& report) {
  constexpr std::size_t most_named = 3;
  std::vector<std::string> doubts;
  for (const auto& row : report.rows)
    if (!row.time.doubt.empty())
      doubts.push_back(fmt::format("{} {}{}: {}", name_of(row.mode), row.length,
                                   report.limits.size() > 1 ? fmt::format(" ({} threads)", row.threads) : "",
                                   row.time.doubt));
  if (doubts.empty()) return;
  const auto named = std::span(doubts).first(std::min(doubts.size(), most_named));
  log::warn(fmt::format("noisy: {} of {} rows ({}{}); more repetitions (-r) or a quieter machine help", doubts.size(),
                        report.rows.size(), fmt::join(named, "; "), named.size() < doubts.size() ? "; ..." : ""));
}

TimingPlan make_plan(const TimeCommand& time, const Model& model, ProgressLine& line) {
  TimingPlan plan;
  plan.modes = chosen_modes(time.modes);
  plan.lengths = chosen_lengths(time, model.config());
  if (!time.plot.empty() && plan.lengths.size() < 2)
    throw Error(ErrorCode::usage, "--plot: expected at least two --lengths, found one");
  plan.threads = chosen_threads(time);
  if (plan.threads.empty()) plan.threads = {Session(model).threads()};  // what is advised, as far as there is
  plan.breakdown = time.breakdown;
  plan.measure = {time.repetitions, time.warmup, was_interrupted, nullptr};
  if (log::shows_progress())
    plan.measure.progress = [&line](std::int64_t done, std::int64_t total) {
      if (line.is_due()) line.show(done == 0 ? "warming up" : fmt::format("timing: {} of {} samples", done, total));
    };
  return plan;
}

/// What --accuracy runs: the beginning of a text, or ids at random.
std::vector<TokenId> accuracy_ids(const TimeCommand& time, const Model& model) {
  constexpr std::int64_t random_ids = 256;
  constexpr std::size_t most_ids = 4096;
  if (time.text.empty()) return some_ids(model.config(), std::min(random_ids, model.config().n_ctx));
  const auto tokenizer = Tokenizer::open(tokenizer_path(model.path()));
  if (!tokenizer) throw Error(ErrorCode::usage, "--text: expected a model with a tokenizer, found none");
  auto ids = tokenizer->encode(read_input(time.text), {});
  if (ids.size() < 2)
    throw Error(ErrorCode::input, fmt::format("--text: expected at least two tokens, found {}", ids.size()));
  ids.resize(std::min(ids.size(), most_ids));
  check_ids(model.config(), ids);
  return ids;
}

/// The same model once more in f32, for as long as it takes.
Accuracy measure_accuracy(const TimeCommand& time, const Model& model) {
  const auto ids = accuracy_ids(time, model);
  auto exact_time = time;
  exact_time.model.precision = ops::name_of(ops::Precision::f32);
  exact_time.model.backend = "auto";
  const auto exact = open_model(exact_time);
  auto accuracy = compare_accuracy(exact, model, ids, [] { return !was_interrupted(); });
  accuracy.text = time.text.empty() ? "ids at random" : time.text;
  return accuracy;
}

TimingReport measure(const TimeCommand& time) {
  const auto begun = std::chrono::steady_clock::now();
  const auto model = open_model(time);
  const auto opened = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  ProgressLine line;
  const auto plan = make_plan(time, model, line);
  catch_interrupts();
  auto report = time_forward(model, plan);
  report.build = build();
  report.threads_asked = chosen_threads(time);
  report.open_seconds = opened;
  if (time.accuracy && !report.partial) {
    line.show("comparing with f32");
    report.accuracy = measure_accuracy(time, model);
    report.partial = was_interrupted();
  }
  return report;
}

int run(const TimeCommand& time) {
  check(time);
  std::optional<Baseline> baseline;
  if (!time.baseline.empty()) baseline = Baseline::open(time.baseline);
  const auto report = measure(time);
  if (report.rows.empty()) throw Interrupted{};
  const auto* before = baseline ? &*baseline : nullptr;
  for (const auto& format : formats)
    if (format.name == time.format) write_out_now(format.text(report, before));
  if (!time.plot.empty()) write_plot(time.plot, report);
  warn_of_doubts(report);
  if (baseline)
    if (const auto differences = baseline->differences(report); !differences.empty())
      log::warn(fmt::format("--baseline: it differs in {}",
                            escape_controls(fmt::format("{}", fmt::join(differences, ", ")))));
  if (!report.partial) return ok;
  log::warn("interrupted: the result is partial");
  return interrupted;
}

}  // namespace

void add_time_command(Program& program) {
  auto* command =
      program.cli.add_subcommand("time", "Time a forward pass, and say how close to the machine's limit it is");
  auto time = std::make_shared<TimeCommand>();
  time->model.add_model_to(*command);
  time->model.add_arithmetic_to(*command);
  command
      ->add_option("--shape", time->shape,
                   "Random weights of that shape instead of a model: one by name, or a config.json")
      ->type_name(alternatives(shape_names()) + "|FILE")
      ->excludes("--model");
  command->add_option("-t,--threads", time->threads, "Threads; several, such as 1,2, are timed in turn")
      ->type_name("LIST")
      ->default_str("what the process may use; 1 for very small models");
  command->add_option("--lengths", time->lengths, "Tokens in the text: 1,16,64 or 8-64+8 or 1-256*2")
      ->type_name("LIST")
      ->default_str("1,16,64,256");
  command
      ->add_option("--mode", time->modes,
                   "recompute (a step of the plain loop), cached (keys and values kept), or both")
      ->type_name("LIST")
      ->default_str(time->modes);
  add_integer(*command, "-r,--repetitions", time->repetitions, 1, 100000, "Samples of each");
  add_integer(*command, "--warmup", time->warmup, 0, 1000, "Samples thrown away first, at least; more until two agree");
  command->add_flag("--breakdown", time->breakdown, "Where the time goes");
  std::vector<std::string> names;
  for (const auto& format : formats) names.emplace_back(format.name);
  add_name(*command, "--format", time->format, names, "Output form");
  command->add_option("--baseline", time->baseline, "Compare with an earlier --format json")->type_name("FILE.json");
  command->add_option("--plot", time->plot, "Draw what a step costs against the length: .svg, .png or .pdf")
      ->type_name("FILE");
  auto* accuracy = command->add_flag("--accuracy", time->accuracy,
                                     "With --precision bf16: what it costs, against the same model in f32");
  command->add_option("--text", time->text, "The text that --accuracy runs; without it, ids at random")
      ->type_name("FILE")
      ->needs(accuracy)
      ->excludes("--shape");
  command->add_flag("--force", time->force, "Let --plot overwrite what is no earlier picture");
  command->callback([&program, time] { program.run = [time] { return run(*time); }; });
}

}  // namespace qkv::app
