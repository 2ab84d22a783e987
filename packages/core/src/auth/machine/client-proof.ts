/**
 * Authenticates the client at the token endpoint: with its secret, or with a JWT signed by its private key (RFC 7523).
 */

import { randomUUID } from "node:crypto";
import { errorMessage } from "@fairlead/wire/text";
import type { ClientAuth } from "oauth4webapi";
import { HostError } from "../../errors.ts";
import { readText } from "../../files/read-text.ts";
import { limits } from "../../limits.ts";
import type { MachineAuthSettings } from "../../settings/define/definition.ts";
import { readSigningKey, type SigningKey, signJwt } from "../oauth/jwt.ts";
import type { StoredClient } from "../store/credentials.ts";

/** How a client authenticates. Without `authenticate`, a token request contains its secret, or only its ID. */
export type MachineProof =
  | { readonly method: "none" | "client_secret_basic" | "client_secret_post"; readonly authenticate?: never }
  /** `key` says where the private key is: a path, or the name of the setting. */
  | { readonly method: "private_key_jwt"; readonly key: string; readonly authenticate: ClientAuth };

/** The client, its key or secret, and the audience of a signed JWT. */
export interface MachineProofOptions {
  readonly settings: MachineAuthSettings;
  readonly serverName: string;
  /** The registered client. Its `authentication` says how to send the secret. */
  readonly client: StoredClient | undefined;
  /** The `aud` claim of the JWT. */
  readonly audience: string;
  readonly signingAlgorithms?: readonly string[] | undefined;
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
}

/** The signed JWT is valid for this many seconds. That is enough, because Fairlead sends it at once. */
const proofLife = 60;
const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/**
 * Returns how the client authenticates, so that the authorization server knows it.
 *
 * @throws HostError `auth_failed` if the private key cannot be read or used
 */
export async function proveClient(options: MachineProofOptions): Promise<MachineProof> {
  const { settings, client, audience: aud, now } = options;
  if (client === undefined || (settings.privateKeyFile === undefined && settings.privateKey === undefined))
    return { method: client?.clientSecret === undefined ? "none" : (client.authentication ?? "client_secret_basic") };
  const { keyId, ...key } = await readClientKey(options);
  const { clientId } = client;
  const header = { typ: "JWT", kid: settings.keyId ?? keyId };
  return {
    method: "private_key_jwt",
    key: settings.privateKeyFile ?? '"privateKey"',
    authenticate(_server, _client, body) {
      const iat = Math.floor(now() / 1000);
      const claims = { iss: clientId, sub: clientId, aud, iat, exp: iat + proofLife, jti: randomUUID() };
      body.set("client_id", clientId);
      body.set("client_assertion_type", assertionType);
      body.set("client_assertion", signJwt(claims, key, header));
    },
  };
}

/**
 * Reads the private key: from the file that the settings name, or from the settings.
 *
 * @throws HostError `auth_failed` if the key cannot be read or used
 */
export async function readClientKey({
  settings: { privateKeyFile: file, privateKey: text = "" },
  serverName,
  signingAlgorithms = [],
}: Pick<MachineProofOptions, "settings" | "serverName" | "signingAlgorithms">): Promise<SigningKey> {
  const found = file === undefined ? ({ kind: "text", text } as const) : await readText(file, limits.keyBytes);
  const reason =
    found.kind === "absent" ? "the file does not exist" : found.kind === "unreadable" ? found.reason : undefined;
  const where = file ?? '"privateKey"';
  const fail = (why: string): HostError =>
    new HostError("auth_failed", `private key of "${serverName}" cannot be used: ${where}: ${why}`, {
      serverName,
      next: `Correct "${file === undefined ? "privateKey" : "privateKeyFile"}" under machineAuth of "${serverName}".`,
    });
  if (found.kind !== "text") throw fail(reason ?? "");
  try {
    return readSigningKey(found.text, signingAlgorithms);
  } catch (error) {
    throw fail(errorMessage(error));
  }
}
