/** Gets the token with which a workload proves its identity: from a file, an address, AWS or a program. */

import { resolve } from "node:path";
import { parseObject, textIn } from "@fairlead/wire/json";
import { HostError } from "../../errors.ts";
import { readText } from "../../files/read-text.ts";
import { limits } from "../../limits.ts";
import {
  metadataText,
  originOf,
  type SubjectSource,
  type SubjectTokenError,
  type SubjectTokenOptions,
} from "./subject-source.ts";

/**
 * Returns the token. Reads it again for each call.
 *
 * @throws HostError `auth_failed` if the source gives no token
 */
export async function subjectToken(source: SubjectSource, options: SubjectTokenOptions): Promise<string> {
  const { serverName, environment } = options;
  const fail: SubjectTokenError = (why, next = "Check the credentials file of this workload.") =>
    new HostError("auth_failed", `"${serverName}" has no subject token for Google: ${why}`, { serverName, next });
  switch (source.kind) {
    case "file": {
      const found = await readText(resolve(environment.cwd, source.file), limits.fetchedBytes);
      if (found.kind === "text") return tokenIn(found.text, source.field, source.file, fail);
      throw fail(`${source.file} ${found.kind === "absent" ? "does not exist" : `cannot be read: ${found.reason}`}`);
    }
    case "url": {
      const text = await metadataText(source.url, { headers: source.headers }, environment, fail);
      return tokenIn(text, source.field, originOf(source.url), fail);
    }
    case "aws": {
      const { awsSubjectToken } = await import("./aws-subject-token.ts");
      return awsSubjectToken(source, options, fail);
    }
    case "program": {
      const { programSubjectToken } = await import("./program-subject-token.ts");
      return programSubjectToken(source, options, fail);
    }
  }
}

function tokenIn(text: string, field: string | undefined, where: string, fail: SubjectTokenError): string {
  const token = field === undefined ? text.trim() : textIn(parseObject(text) ?? {}, field);
  if (token === undefined || token === "")
    throw fail(`${where} contains no token${field === undefined ? "" : ` in "${field}"`}`);
  return token;
}
