/**
 * Reads `credential_source` in a credentials file. It says where a workload gets the token that proves its identity.
 */

import type { JsonObject } from "@fairlead/wire";
import { isObject, textIn } from "@fairlead/wire/json";
import { HostError } from "../../errors.ts";
import { createBoundedFetch } from "../../net/bounded-fetch.ts";
import type { Environment } from "../../settings/read/paths.ts";

/**
 * Where a workload gets its token. `field` is the JSON member with the token. If it is undefined, the whole text is the
 * token.
 */
export type SubjectSource =
  | { readonly kind: "file"; readonly file: string; readonly field: string | undefined }
  | {
      readonly kind: "url";
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly field: string | undefined;
    }
  | AwsSource
  | ProgramSource;

/** A workload in AWS: the addresses for its region, its credentials and its identity. */
export interface AwsSource {
  readonly kind: "aws";
  /** The address of AWS STS. It contains `{region}`, which is replaced by the region. */
  readonly verificationUrl: string;
  /**
   * Addresses of the machine's metadata server. Used only if environment variables do not give the region and the
   * credentials.
   */
  readonly regionUrl: string | undefined;
  readonly credentialsUrl: string | undefined;
  readonly sessionUrl: string | undefined;
}

/** A program that prints the token. */
export interface ProgramSource {
  readonly kind: "program";
  readonly command: string;
  /** The program is killed after this many milliseconds. */
  readonly timeout: number;
  /** The file in which the program stores its last token. */
  readonly outputFile: string | undefined;
}

/** The workload that needs a token, and what the token is for. */
export interface SubjectTokenOptions {
  readonly serverName: string;
  readonly environment: Environment;
  readonly audience: string;
  readonly tokenType: string;
  /** The service account as which the workload signs in, if any. */
  readonly account: string | undefined;
}

/** Returns the error if there is no token. `why` ends the message, `next` is the advice. */
export type SubjectTokenError = (why: string, next?: string) => HostError;

const usualTimeout = 30_000;
const shortestTimeout = 5_000;
const longestTimeout = 120_000;

/** Returns the source, or why Fairlead does not support it. */
export function readSubjectSource(
  json: unknown,
): SubjectSource | { readonly kind: "unsupported"; readonly reason: string } {
  const unsupported = (reason: string) => ({ kind: "unsupported", reason }) as const;
  if (!isObject(json)) return unsupported('"credential_source" is missing');
  const format = isObject(json["format"]) ? json["format"] : {};
  const [type = "text", field] = [textIn(format, "type"), textIn(format, "subject_token_field_name")];
  const environmentId = textIn(json, "environment_id");
  if (environmentId !== undefined)
    return awsSource(json, environmentId) ?? unsupported("the AWS credential source is not supported");
  if (isObject(json["executable"]))
    return programSource(json["executable"]) ?? unsupported("the executable in the credential source is invalid");
  if (json["certificate"] !== undefined)
    return unsupported("X.509 certificates as credential source are not supported");
  if (type !== "text" && (type !== "json" || field === undefined))
    return unsupported('"format" of the credential source is invalid');
  const found = { field: type === "json" ? field : undefined };
  const [file, url] = [textIn(json, "file"), textIn(json, "url")];
  if (file !== undefined) return { kind: "file", file, ...found };
  if (url !== undefined) return { kind: "url", url, headers: textsIn(json["headers"]), ...found };
  return unsupported("the credential source is neither a file, an address, AWS nor an executable");
}

function awsSource(json: JsonObject, environmentId: string): AwsSource | undefined {
  const verificationUrl = textIn(json, "regional_cred_verification_url");
  if (environmentId !== "aws1" || verificationUrl === undefined) return undefined;
  return {
    kind: "aws",
    verificationUrl,
    regionUrl: textIn(json, "region_url"),
    credentialsUrl: textIn(json, "url"),
    sessionUrl: textIn(json, "imdsv2_session_token_url"),
  };
}

function programSource(json: JsonObject): ProgramSource | undefined {
  const command = textIn(json, "command");
  const { timeout_millis: timeout = usualTimeout } = json;
  if (command === undefined || typeof timeout !== "number") return undefined;
  if (!(timeout >= shortestTimeout && timeout <= longestTimeout)) return undefined;
  return { kind: "program", command, timeout, outputFile: textIn(json, "output_file") };
}

function textsIn(json: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(isObject(json) ? json : {});
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

/**
 * Sends a request to an address from the credentials file, and returns the text. The address may be in the machine's
 * own network.
 */
export async function metadataText(
  url: string,
  init: Pick<RequestInit, "method" | "headers">,
  { env }: Environment,
  fail: SubjectTokenError,
): Promise<string> {
  // A metadata server (http) answers about the machine that asks, so this request must not go through a proxy.
  const fetch = createBoundedFetch({ near: url, env: url.startsWith("https:") ? env : {} });
  const response = await fetch(url, { ...init, redirect: "error" }).catch((error: unknown) => {
    throw error instanceof HostError ? fail(error.message) : error;
  });
  if (!response.ok) throw fail(`${originOf(url)} answered HTTP ${response.status}`);
  return response.text();
}

/** Returns the origin of a URL, for messages. The rest of the URL may contain secrets. */
export function originOf(url: string): string {
  return new URL(url).origin;
}
