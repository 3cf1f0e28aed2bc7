#include "qkv/timing/report_json.hpp"

#include <fmt/format.h>

#include <utility>

#include "qkv/core/error.hpp"
#include "qkv/io/json_reader.hpp"

namespace qkv {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* schema = "qkv.time/1";

Json model_json(const TimedModel& model) {
  return {{"name", model.name},
          {"random_weights", model.random_weights},
          {"shape", model.shape},
          {"parameters", model.parameters},
          {"weight_bytes", model.weight_bytes},
          {"backend", model.backend},
          {"precision", model.precision}};
}

Json machine_json(const Machine& machine) {
  return {{"processor", machine.processor}, {"processors", machine.processors}, {"memory_bytes", machine.memory}};
}

Json build_json(const Build& build) {
  return {{"version", build.version},
          {"compiler", build.compiler},
          {"simd", build.simd},
          {"blas", build.blas},
          {"blas_kernel", build.blas_kernel}};
}

Json limits_json(const Limits& limits) {
  return {{"threads", limits.threads},
          {"linear_flops_per_s", limits.linear_rate},
          {"matmul_flops_per_s", limits.matmul_rate},
          {"read_bytes_per_s", limits.read_rate},
          {"read_block_bytes", limits.read_block}};
}

void put_rates(Json& object, const Work& work, const Rates& rates) {
  object["flops"] = work.flops;
  object["bytes"] = work.bytes;
  object["flops_per_s"] = rates.flops_per_second;
  object["bytes_per_s"] = rates.bytes_per_second;
  object["limit"] = rates.bound.by_memory ? "memory" : "products";
  object["limit_s"] = rates.bound.seconds;
  object["share_of_limit"] = rates.share;
}

Json parts_json(const TimedRow& row, const Limits& limits) {
  auto parts = Json::array();
  for (const auto part : all_parts) {
    Json object{{"part", name_of(part)}, {"median_s", row.parts->seconds[part]}};
    put_rates(object, row.work[part], rates_of(row, part, limits));
    parts.push_back(std::move(object));
  }
  return parts;
}

Json growth_json(const ModeGrowth& growth) {
  return {{"mode", name_of(growth.mode)},
          {"threads", growth.threads},
          {"fixed_s", growth.growth.fixed},
          {"per_token_s", growth.growth.per_token},
          {"per_square_s", growth.growth.per_square},
          {"largest_deviation", growth.growth.largest_deviation},
          {"tokens", growth.tokens},
          {"generation_s", growth.generation_seconds}};
}

Json accuracy_json(const Accuracy& accuracy) {
  return {{"text", accuracy.text},
          {"tokens", accuracy.tokens},
          {"largest_logit_difference", accuracy.largest_logit_difference},
          {"largest_logit", accuracy.largest_logit},
          {"mean_kl_nats", accuracy.mean_kl},
          {"largest_kl_nats", accuracy.largest_kl},
          {"same_choice", accuracy.same_choice},
          {"perplexity_f32", accuracy.exact_perplexity},
          {"perplexity", accuracy.perplexity}};
}

bool is_row(const nlohmann::json& row, const TimedRow& wanted) {
  return row.at("mode") == name_of(wanted.mode) && row.at("length") == wanted.length &&
         row.at("threads") == wanted.threads;
}

}  // namespace

Baseline Baseline::open(const std::filesystem::path& path) try {
  const auto reader = JsonReader::open(path);
  if (reader.text("schema") != schema) reader.fail("schema", fmt::format("\"{}\"", schema));
  (void)reader.object("model").text("name");
  (void)reader.object("machine").text("processor");
  (void)reader.object("build").text("compiler");
  for (const auto& row : reader.objects("rows")) {
    (void)row.text("mode");
    (void)row.integer("length", {1});
    (void)row.integer("threads", {1});
    (void)row.number("median_s", {0.0});
  }
  nlohmann::json report;
  for (const auto* key : {"model", "machine", "build", "rows"}) report[key] = reader.raw(key);
  return Baseline(std::move(report));
} catch (const Error& e) {
  throw Error(ErrorCode::usage, fmt::format("--baseline: {}", e.what()));
}

std::optional<double> Baseline::median_of(const TimedRow& row) const {
  for (const auto& one : report_.at("rows"))
    if (is_row(one, row)) return one.at("median_s").get<double>();
  return std::nullopt;
}

std::vector<std::string> Baseline::differences(const TimingReport& report) const {
  std::vector<std::string> found;
  const auto compare = [&](const char* what, const char* key, const Json& now) {
    const auto& then = report_.at(what);
    if (!then.contains(key) || then.at(key) != nlohmann::json(now.at(key)))
      found.push_back(fmt::format("{} {}", what, key));
  };
  const auto model = model_json(report.model);
  const auto machine = machine_json(report.machine);
  const auto build = build_json(report.build);
  for (const auto* key : {"name", "parameters", "backend", "precision"}) compare("model", key, model);
  for (const auto* key : {"processor", "processors"}) compare("machine", key, machine);
  for (const auto* key : {"compiler", "simd", "blas", "blas_kernel"}) compare("build", key, build);
  return found;
}

Json row_json(const TimingReport& report, const TimedRow& row, const Baseline* baseline) {
  const auto& limits = report.limits_of(row);
  const auto rates = rates_of(row, limits);
  Json object{{"mode", name_of(row.mode)}, {"length", row.length},
              {"threads", row.threads},    {"median_s", row.time.median},
              {"min_s", row.time.min},     {"p90_s", row.time.p90},
              {"mad_s", row.time.mad},     {"noisy", !row.time.doubt.empty()},
              {"doubt", row.time.doubt},   {"tokens_per_s", rates.tokens_per_second}};
  put_rates(object, total(row.work), rates);
  if (baseline != nullptr) {
    const auto before = baseline->median_of(row);
    object["baseline_median_s"] = before ? Json(*before) : Json(nullptr);
    object["ratio_to_baseline"] = before && *before > 0.0 ? Json(row.time.median / *before) : Json(nullptr);
  }
  if (row.parts) {
    object["observed_pass_s"] = row.parts->pass;
    object["parts"] = parts_json(row, limits);
  }
  object["warmups"] = row.measured.warmups;
  object["passes_per_sample"] = row.measured.passes;
  object["samples_s"] = row.measured.samples;
  return object;
}

Json to_json(const TimingReport& report, const Baseline* baseline) {
  Json object{{"schema", schema},
              {"model", model_json(report.model)},
              {"machine", machine_json(report.machine)},
              {"build", build_json(report.build)},
              {"threads_asked", report.threads_asked},
              {"partial", report.partial},
              {"open_s", report.open_seconds},
              {"first_pass_s", report.first_pass_seconds},
              {"peak_memory_bytes", report.peak_memory}};
  for (const auto* list : {"limits", "rows", "comparisons", "growth"}) object[list] = Json::array();
  for (const auto& limits : report.limits) object["limits"].push_back(limits_json(limits));
  for (const auto& row : report.rows) object["rows"].push_back(row_json(report, row, baseline));
  for (const auto& one : report.comparisons)
    object["comparisons"].push_back({{"length", one.length},
                                     {"threads", one.threads},
                                     {"ratio", one.ratio},
                                     {"largest_logit_difference", one.largest_logit_difference}});
  for (const auto& growth : report.growth) object["growth"].push_back(growth_json(growth));
  if (report.accuracy) object["accuracy"] = accuracy_json(*report.accuracy);
  return object;
}

}  // namespace qkv
