import { type Bound, decryptRow, encryptRow } from "../encryption.ts";
import { addressHint, type Hints } from "../hints.ts";
import type { KeyRing } from "../key-ring.ts";
import type { MessageStore, NewMessage, StoredMessage } from "../messages.ts";
import type { RunStatement } from "./database.ts";
import { keyDigest, toTime } from "./values.ts";

interface MessageRow {
  readonly number: string;
  readonly address_digest: Buffer;
  readonly encrypted: Buffer;
}

export class PostgresMessages implements MessageStore {
  readonly #run: RunStatement;
  readonly #ring: KeyRing;
  readonly #hints: Hints;

  constructor(run: RunStatement, ring: KeyRing, hints: Hints) {
    this.#run = run;
    this.#ring = ring;
    this.#hints = hints;
  }

  async send(address: string, { text, until, key }: NewMessage): Promise<void> {
    await this.#run(
      `insert into messages (address_digest, key_digest, encrypted, until) values ($1, $2, $3, $4)
        on conflict (address_digest, key_digest) do update
          set number = default, encrypted = excluded.encrypted, until = excluded.until`,
      [
        keyDigest(address),
        key === undefined ? null : keyDigest(key),
        encryptRow(this.#ring, boundOf(address), text),
        toTime(until),
      ],
    );
    this.#hints.send("message", addressHint(address));
  }

  async list(addresses: readonly string[]): Promise<readonly StoredMessage[]> {
    if (addresses.length === 0) return [];
    const byDigest = new Map(addresses.map((address) => [keyDigest(address).toString("hex"), address]));
    const rows = await this.#run<MessageRow>(
      `select number, address_digest, encrypted from messages
        where address_digest = any($1::bytea[]) and until > now() order by number`,
      [addresses.map((address) => keyDigest(address))],
    );
    return rows.flatMap(({ number, address_digest, encrypted }) => {
      const address = byDigest.get(address_digest.toString("hex")) ?? "";
      // A message whose key is not in the ring any more cannot be read: it does not exist.
      const text = decryptRow(this.#ring, boundOf(address), encrypted);
      return text === undefined ? [] : [{ address, number: Number(number), text }];
    });
  }
}

function boundOf(address: string): Bound {
  return ["messages", address];
}
