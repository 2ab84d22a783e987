import { type Bound, decryptRow, encryptRow } from "../encryption.ts";
import type { Hints } from "../hints.ts";
import type { KeyRing } from "../key-ring.ts";
import type { Owner } from "../owner.ts";
import type { NewQuestion, QuestionStore, StoredQuestion } from "../questions.ts";
import type { RunStatement } from "./database.ts";
import { boundedText, keyText, ownerValues, toTime } from "./values.ts";

/** The most questions that a list has. */
const mostListed = 1000;

interface QuestionRow {
  readonly tenant: number;
  readonly id: string;
  readonly principal: string;
  readonly server: string;
  readonly tool: string;
  readonly args_digest: Buffer;
  readonly asked: Buffer;
  readonly until: Date;
  readonly state: StoredQuestion["state"];
  readonly answer: Buffer | null;
  readonly answered_by: string | null;
}

type QuestionAddress = Pick<QuestionRow, "tenant" | "id" | "principal">;

export class PostgresQuestions implements QuestionStore {
  readonly #run: RunStatement;
  readonly #ring: KeyRing;
  readonly #hints: Hints;

  constructor(run: RunStatement, ring: KeyRing, hints: Hints) {
    this.#run = run;
    this.#ring = ring;
    this.#hints = hints;
  }

  async ask({ id, owner, server, tool, argsDigest, asked, until }: NewQuestion): Promise<void> {
    const [tenant, principal] = ownerValues(owner);
    await this.#run(
      `insert into questions (tenant, id, principal, server, tool, args_digest, asked, until)
        values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [
        tenant,
        keyText(id, "the id of the question"),
        principal,
        boundedText(server),
        boundedText(tool),
        argsDigest,
        encryptRow(this.#ring, boundOf({ tenant, id, principal }, "asked"), asked),
        toTime(until),
      ],
    );
    this.#hints.send("question", id);
  }

  async read(tenant: number, id: string): Promise<StoredQuestion | undefined> {
    const row = await this.#row(tenant, id);
    return row && this.#toQuestion(row);
  }

  async answer(tenant: number, id: string, answer: { readonly by: string; readonly json: string }): Promise<boolean> {
    const row = await this.#row(tenant, id);
    if (row === undefined) return false;
    const encrypted = encryptRow(this.#ring, boundOf(row, "answer"), answer.json);
    const statement = `update questions set state = 'answered', answer = $3, answered_by = $4
      where tenant = $1 and id = $2 and state = 'open' and until > now() returning id`;
    return this.#changed(id, await this.#run(statement, [tenant, id, encrypted, boundedText(answer.by)]));
  }

  async withdraw(tenant: number, id: string): Promise<boolean> {
    const statement = `update questions set state = 'withdrawn' where tenant = $1 and id = $2 and state = 'open'
      returning id`;
    return this.#changed(id, await this.#run(statement, [tenant, keyText(id, "the id of the question")]));
  }

  async find(owner: Owner, argsDigest: Buffer): Promise<StoredQuestion | undefined> {
    const [row] = await this.#run<QuestionRow>(
      `select * from questions where tenant = $1 and principal = $2 and args_digest = $3
        and state = 'open' and until > now() order by number limit 1`,
      [...ownerValues(owner), argsDigest],
    );
    return row && this.#toQuestion(row);
  }

  async take(owner: Owner, argsDigest: Buffer): Promise<StoredQuestion | undefined> {
    const [row] = await this.#run<QuestionRow>(
      `update questions set state = 'used' where tenant = $1 and number = (
          select number from questions where tenant = $1 and principal = $2 and args_digest = $3
            and state = 'answered' and until > now() order by number limit 1 for update skip locked)
        returning *`,
      [...ownerValues(owner), argsDigest],
    );
    return row && this.#toQuestion(row);
  }

  async open(tenant: number, principal?: string): Promise<readonly StoredQuestion[]> {
    const rows = await this.#run<QuestionRow>(
      `select * from questions where tenant = $1 and ($2::text is null or principal = $2)
        and state = 'open' and until > now() order by number limit ${mostListed}`,
      principal === undefined ? [tenant, null] : ownerValues({ tenant, principal }),
    );
    return rows.flatMap((row) => this.#toQuestion(row) ?? []);
  }

  async #row(tenant: number, id: string): Promise<QuestionRow | undefined> {
    if (id.includes("\0")) return undefined;
    const statement = "select * from questions where tenant = $1 and id = $2";
    const [row] = await this.#run<QuestionRow>(statement, [tenant, id]);
    return row;
  }

  #changed(id: string, rows: readonly unknown[]): boolean {
    if (rows.length > 0) this.#hints.send("question", id);
    return rows.length > 0;
  }

  /** A question whose key is not in the ring any more cannot be shown or answered: it does not exist. */
  #toQuestion(row: QuestionRow): StoredQuestion | undefined {
    const { tenant, id, principal, server, tool, args_digest, until, state, answered_by } = row;
    const asked = decryptRow(this.#ring, boundOf(row, "asked"), row.asked);
    const answer = row.answer === null ? undefined : decryptRow(this.#ring, boundOf(row, "answer"), row.answer);
    if (asked === undefined || (row.answer !== null && answer === undefined)) return undefined;
    return {
      id,
      owner: { tenant, principal },
      server,
      tool,
      argsDigest: args_digest,
      asked,
      until: until.getTime(),
      state,
      answer,
      answeredBy: answered_by ?? undefined,
    };
  }
}

function boundOf({ tenant, id, principal }: QuestionAddress, column: "asked" | "answer"): Bound {
  return ["questions", column, tenant, id, principal];
}
