import { expect, test } from "vitest";
import { originOf, readSubjectSource } from "../../../src/auth/google/subject-source.ts";

const unsupported = (reason: string) => ({ kind: "unsupported", reason });
const aws = { environment_id: "aws1", regional_cred_verification_url: "https://sts.{region}.example" };
const program = (more: object = {}) => ({ executable: { command: "/bin/token --now", ...more } });
const badProgram = unsupported("the executable in the credential source is invalid");
const badFormat = unsupported('"format" of the credential source is invalid');

test.each<[unknown, object]>([
  [undefined, unsupported('"credential_source" is missing')],
  ["file", unsupported('"credential_source" is missing')],
  [{}, unsupported("the credential source is neither a file, an address, AWS nor an executable")],
  [{ file: "/token" }, { kind: "file", file: "/token", field: undefined }],
  [
    { file: "/token", url: "http://m/" },
    { kind: "file", file: "/token", field: undefined },
  ],
  [
    { file: "/token", format: { type: "text" } },
    { kind: "file", file: "/token", field: undefined },
  ],
  [
    { file: "/token", format: { type: "text", subject_token_field_name: "t" } },
    { kind: "file", file: "/token", field: undefined },
  ],
  [
    { file: "/token", format: { type: "json", subject_token_field_name: "t" } },
    { kind: "file", file: "/token", field: "t" },
  ],
  [{ file: "/token", format: { type: "json" } }, badFormat],
  [{ file: "/token", format: { type: "xml", subject_token_field_name: "t" } }, badFormat],
  [{ url: "http://m/" }, { kind: "url", url: "http://m/", headers: {}, field: undefined }],
  [
    { url: "http://m/", headers: { A: "1", B: 2 }, format: { type: "json", subject_token_field_name: "t" } },
    { kind: "url", url: "http://m/", headers: { A: "1" }, field: "t" },
  ],
  [
    { url: "http://m/", headers: "A" },
    { kind: "url", url: "http://m/", headers: {}, field: undefined },
  ],
  [{ certificate: {} }, unsupported("X.509 certificates as credential source are not supported")],
  [
    aws,
    {
      kind: "aws",
      verificationUrl: "https://sts.{region}.example",
      regionUrl: undefined,
      credentialsUrl: undefined,
      sessionUrl: undefined,
    },
  ],
  [
    { ...aws, region_url: "http://r/", url: "http://c/", imdsv2_session_token_url: "http://s/" },
    {
      kind: "aws",
      verificationUrl: "https://sts.{region}.example",
      regionUrl: "http://r/",
      credentialsUrl: "http://c/",
      sessionUrl: "http://s/",
    },
  ],
  [{ ...aws, environment_id: "aws2" }, unsupported("the AWS credential source is not supported")],
  [{ environment_id: "aws1" }, unsupported("the AWS credential source is not supported")],
  [program(), { kind: "program", command: "/bin/token --now", timeout: 30_000, outputFile: undefined }],
  [
    program({ timeout_millis: 5_000, output_file: "/out" }),
    { kind: "program", command: "/bin/token --now", timeout: 5_000, outputFile: "/out" },
  ],
  [
    program({ timeout_millis: 120_000 }),
    { kind: "program", command: "/bin/token --now", timeout: 120_000, outputFile: undefined },
  ],
  [program({ timeout_millis: 4_999 }), badProgram],
  [program({ timeout_millis: 120_001 }), badProgram],
  [program({ timeout_millis: "6000" }), badProgram],
  [program({ command: 7 }), badProgram],
])("the credential source %j is read as %j", (json, source) => {
  expect(readSubjectSource(json)).toEqual(source);
});

test("a message names only the origin of an address", () => {
  expect(originOf("http://user:secret@m.example:80/path?key=secret")).toBe("http://m.example");
});
