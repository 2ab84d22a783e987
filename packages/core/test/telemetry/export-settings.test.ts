/** OpenTelemetry's environment variables. */

import { expect, test } from "vitest";
import { readExportSettings } from "../../src/telemetry/export-settings.ts";
import { asksForTelemetry } from "../../src/telemetry/telemetry.ts";

const base = "OTEL_EXPORTER_OTLP_ENDPOINT";

function addresses(env: Readonly<Record<string, string>>): readonly (string | undefined)[] {
  const { traces, metrics } = readExportSettings(env);
  return [traces?.collector?.url.href, metrics?.collector?.url.href];
}

test.each([
  [{}, [undefined, undefined]],
  [{ [base]: "" }, [undefined, undefined]],
  [{ [base]: "http://c:4318" }, ["http://c:4318/v1/traces", "http://c:4318/v1/metrics"]],
  [{ [base]: "https://c/otel/?a=1" }, ["https://c/otel/v1/traces?a=1", "https://c/otel/v1/metrics?a=1"]],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://c/mine" }, ["http://c/mine", undefined]],
  [{ [base]: "http://c", OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://m" }, ["http://c/v1/traces", "http://m/"]],
  [{ OTEL_TRACES_EXPORTER: "otlp" }, ["http://localhost:4318/v1/traces", undefined]],
  [{ [base]: "http://c", OTEL_METRICS_EXPORTER: "none" }, ["http://c/v1/traces", undefined]],
])("where %j sends to", (env, expected) => {
  expect(addresses(env)).toEqual(expected);
  expect(asksForTelemetry(env)).toBe(expected.some((address) => address !== undefined));
});

test("what belongs to one signal wins over what belongs to all", () => {
  const { traces, metrics } = readExportSettings({
    [base]: "http://c",
    OTEL_EXPORTER_OTLP_HEADERS: "a=1,b=2",
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: "c=3",
    OTEL_EXPORTER_OTLP_TIMEOUT: "5000",
    OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: "7000",
    OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
    OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: "none",
  });
  expect(traces?.collector).toMatchObject({ headers: { c: "3" }, timeout: 5000, isCompressed: false });
  expect(metrics?.collector).toMatchObject({ headers: { a: "1", b: "2" }, timeout: 7000, isCompressed: true });
});

test("the batches of spans and the interval of metrics", () => {
  expect(readExportSettings({})).toMatchObject({
    spans: { batch: 512, queue: 2048, delay: 5000 },
    interval: 60_000,
    resource: { "service.name": "fairlead" },
    problems: [],
  });
  expect(
    readExportSettings({
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "10",
      OTEL_BSP_MAX_QUEUE_SIZE: "5",
      OTEL_BSP_SCHEDULE_DELAY: "100",
      OTEL_METRIC_EXPORT_INTERVAL: "1000",
    }),
  ).toMatchObject({ spans: { batch: 10, queue: 10, delay: 100 }, interval: 1000 });
});

test.each([
  ["an endpoint that is no URL", { [base]: "collector:4318" }, base],
  ["an endpoint of another scheme", { [base]: "unix:/tmp/x" }, base],
  [
    "a protocol that is not spoken",
    { [base]: "http://c", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
    "OTEL_EXPORTER_OTLP_PROTOCOL",
  ],
])("%s is told, and nothing is sent", (_, env, name) => {
  const { traces, metrics, problems } = readExportSettings(env);
  expect([traces, metrics]).toEqual([undefined, undefined]);
  expect(problems).toEqual([expect.stringContaining(name)]);
});

test.each([
  [{ OTEL_EXPORTER_OTLP_HEADERS: "secret" }, "OTEL_EXPORTER_OTLP_HEADERS"],
  [{ OTEL_EXPORTER_OTLP_HEADERS: "a=sec%0Aret" }, "OTEL_EXPORTER_OTLP_HEADERS"],
  [{ OTEL_EXPORTER_OTLP_HEADERS: "a=%zz-secret" }, "OTEL_EXPORTER_OTLP_HEADERS"],
  [{ OTEL_EXPORTER_OTLP_HEADERS: "Content-Length=secret" }, "OTEL_EXPORTER_OTLP_HEADERS"],
  [{ OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: "soon" }, "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"],
  [{ OTEL_EXPORTER_OTLP_COMPRESSION: "br" }, "OTEL_EXPORTER_OTLP_COMPRESSION"],
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: "thrift" }, "OTEL_EXPORTER_OTLP_PROTOCOL"],
  [{ OTEL_TRACES_SAMPLER: "some" }, "OTEL_TRACES_SAMPLER"],
  [{ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "2" }, "OTEL_TRACES_SAMPLER"],
  [{ OTEL_TRACES_EXPORTER: "otlp,zipkin" }, "OTEL_TRACES_EXPORTER"],
  [{ OTEL_BSP_SCHEDULE_DELAY: "-1" }, "OTEL_BSP_SCHEDULE_DELAY"],
  [{ OTEL_RESOURCE_ATTRIBUTES: "a" }, "OTEL_RESOURCE_ATTRIBUTES"],
] as const)("a wrong value (%j) is told once, without the value, and the default counts", (env, name) => {
  const { traces, problems } = readExportSettings({ [base]: "http://c", ...env });
  expect(traces?.collector?.url.href).toBe("http://c/v1/traces");
  expect(problems).toEqual([expect.stringContaining(name)]);
  expect(problems.join()).not.toContain("secret");
});

test("OTEL_SDK_DISABLED turns everything off", () => {
  expect(asksForTelemetry({ [base]: "http://c", OTEL_SDK_DISABLED: " True " })).toBe(false);
  expect(asksForTelemetry({ [base]: "http://c", OTEL_SDK_DISABLED: "false" })).toBe(true);
});
