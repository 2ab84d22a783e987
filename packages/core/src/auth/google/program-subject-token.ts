/**
 * Runs the program that the credentials file names, and reads a workload's token from its output. The user must allow
 * such programs.
 */

import { execFile } from "node:child_process";
import { isAbsolute, resolve } from "node:path";
import type { JsonObject } from "@fairlead/wire";
import { parseObject, textIn } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import { readText } from "../../files/read-text.ts";
import { limits } from "../../limits.ts";
import type { ProgramSource, SubjectTokenError, SubjectTokenOptions } from "./subject-source.ts";

const permission = "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES";
const longestReason = 200;

/**
 * Returns the token from the program's output file if it is still valid, otherwise runs the program.
 *
 * @throws HostError `auth_failed` if the program is not allowed, fails or prints no token
 */
export async function programSubjectToken(
  source: ProgramSource,
  options: SubjectTokenOptions,
  fail: SubjectTokenError,
): Promise<string> {
  const { env, cwd } = options.environment;
  if (env[permission] !== "1")
    throw fail(
      "the credentials file names a program, and running this program is not allowed",
      `If you trust that file, set ${permission}=1.`,
    );
  const { outputFile } = source;
  const kept = outputFile === undefined ? undefined : await readText(resolve(cwd, outputFile), limits.fetchedBytes);
  const before = kept?.kind === "text" ? parseObject(kept.text) : undefined;
  if (before?.["success"] === true && !isExpired(before)) return tokenIn(before, fail);
  const answer = parseObject(await run(source, options, fail)) ?? {};
  if (isExpired(answer)) throw fail("the program's token has expired");
  return tokenIn(answer, fail);
}

function isExpired({ expiration_time: end }: JsonObject): boolean {
  return typeof end === "number" && end * 1000 <= Date.now();
}

/** If the program fails, the error message does not contain its output, because the output may contain a token. */
function run(
  { command, timeout, outputFile }: ProgramSource,
  options: SubjectTokenOptions,
  fail: SubjectTokenError,
): Promise<string> {
  const [file = "", ...args] = wordsOf(command);
  // Without an absolute path, the search on `PATH` could find a program in the current folder.
  if (!isAbsolute(file))
    throw fail(`the path of the program ${JSON.stringify(clip(file, longestReason))} is not absolute`);
  const { environment, audience, tokenType, account } = options;
  const env = {
    ...environment.env,
    GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE: audience,
    GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE: tokenType,
    GOOGLE_EXTERNAL_ACCOUNT_INTERACTIVE: "0",
    GOOGLE_EXTERNAL_ACCOUNT_OUTPUT_FILE: outputFile,
    GOOGLE_EXTERNAL_ACCOUNT_IMPERSONATED_EMAIL: account,
  };
  const limit = { timeout, maxBuffer: limits.fetchedBytes, killSignal: "SIGKILL" } as const;
  return new Promise((done, reject) => {
    execFile(file, args, { ...limit, env, cwd: environment.cwd, windowsHide: true }, (error, stdout) => {
      if (error === null) return done(stdout);
      const why = error.killed === true ? `timed out after ${timeout / 1000} s` : `failed (${error.code})`;
      reject(fail(`the program ${file} ${why}`));
    }).stdin?.end();
  });
}

/** Splits a command at spaces. A word in double quotes may contain spaces. */
function wordsOf(command: string): readonly string[] {
  return (command.match(/(?:[^\s"]+|"[^"]*")+/g) ?? []).map((word) => word.replaceAll('"', ""));
}

function tokenIn(answer: JsonObject, fail: SubjectTokenError): string {
  if (answer["version"] !== 1) throw fail('the program\'s answer is not a JSON object with "version": 1');
  if (answer["success"] !== true) {
    const said = [textIn(answer, "code"), textIn(answer, "message")].filter((text) => text !== undefined).join(": ");
    throw fail(`the program reports an error${said === "" ? "" : `: ${clip(said, longestReason)}`}`);
  }
  const isSaml = textIn(answer, "token_type") === "urn:ietf:params:oauth:token-type:saml2";
  const token = textIn(answer, isSaml ? "saml_response" : "id_token");
  if (token === undefined) throw fail(`the program's answer has no ${isSaml ? "saml_response" : "id_token"}`);
  return token;
}
