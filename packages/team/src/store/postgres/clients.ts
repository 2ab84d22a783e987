import type { ClientKey, ClientStore } from "../clients.ts";
import { type Bound, decryptRow, encryptRow } from "../encryption.ts";
import type { KeyRing } from "../key-ring.ts";
import type { RunStatement } from "./database.ts";
import { boundedText, keyDigest } from "./values.ts";

interface ClientRow {
  readonly encrypted: Buffer;
}

export class PostgresClients implements ClientStore {
  readonly #run: RunStatement;
  readonly #ring: KeyRing;

  constructor(run: RunStatement, ring: KeyRing) {
    this.#run = run;
    this.#ring = ring;
  }

  async read(key: ClientKey): Promise<string | undefined> {
    const row = await this.#row(key);
    return row && decryptRow(this.#ring, boundOf(key), row.encrypted);
  }

  async add(key: ClientKey, registration: string): Promise<string> {
    const encrypted = encryptRow(this.#ring, boundOf(key), registration);
    const { tenant, issuer, redirectUri } = key;
    for (;;) {
      const added = await this.#run(
        `insert into clients (tenant, key_digest, issuer, redirect_uri, encrypted) values ($1, $2, $3, $4, $5)
          on conflict do nothing returning tenant`,
        [tenant, digestOf(key), boundedText(issuer), boundedText(redirectUri), encrypted],
      );
      if (added.length > 0) return registration;
      const row = await this.#row(key);
      // The other registration may be removed meanwhile. One that no key of the ring opens is of no use to any replica.
      const first = row && decryptRow(this.#ring, boundOf(key), row.encrypted);
      if (first !== undefined) return first;
      if (row !== undefined) await this.#removeRow(key, row);
    }
  }

  async remove(key: ClientKey, registration: string): Promise<void> {
    const row = await this.#row(key);
    if (row !== undefined && decryptRow(this.#ring, boundOf(key), row.encrypted) === registration)
      await this.#removeRow(key, row);
  }

  async #row(key: ClientKey): Promise<ClientRow | undefined> {
    const statement = "select encrypted from clients where tenant = $1 and key_digest = $2";
    const [row] = await this.#run<ClientRow>(statement, [key.tenant, digestOf(key)]);
    return row;
  }

  async #removeRow(key: ClientKey, { encrypted }: ClientRow): Promise<void> {
    const statement = "delete from clients where tenant = $1 and key_digest = $2 and encrypted = $3";
    await this.#run(statement, [key.tenant, digestOf(key), encrypted]);
  }
}

function digestOf({ issuer, redirectUri }: ClientKey): Buffer {
  return keyDigest(issuer, redirectUri);
}

function boundOf({ tenant, issuer, redirectUri }: ClientKey): Bound {
  return ["clients", tenant, issuer, redirectUri];
}
