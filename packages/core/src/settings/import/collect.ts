/** Reads the files of other programs and converts every server in them. A broken file is reported; the others go on. */

import { type Conversion, convertServer } from "./convert.ts";
import type { ConversionContext } from "./draft.ts";
import { convertEnvFile, type EnvFileContext } from "./env-file.ts";
import { type ForeignFile, readForeignFile } from "./foreign-file.ts";
import type { ImportSource } from "./program.ts";

export interface CollectContext extends EnvFileContext {
  readonly target: ConversionContext["target"];
}

export interface ImportCandidate {
  readonly name: string;
  readonly source: ImportSource;
  readonly conversion: Conversion;
}

export interface Collection {
  readonly files: readonly { readonly source: ImportSource; readonly file: ForeignFile }[];
  readonly candidates: readonly ImportCandidate[];
}

export async function collect(sources: readonly ImportSource[], context: CollectContext): Promise<Collection> {
  const { environment, root } = context;
  const folders = [...new Set([root, environment.cwd])];
  const files = await Promise.all(
    sources.map(async (source) => ({ source, file: await readForeignFile(source, folders) })),
  );
  const candidates = files.flatMap(({ source, file }) =>
    file.kind === "read" ? convertAll(source, file, context) : [],
  );
  const withEnvFiles = candidates.map(async (candidate) => ({
    ...candidate,
    conversion: await convertEnvFile(candidate.conversion, candidate.source, context),
  }));
  return { files, candidates: await Promise.all(withEnvFiles) };
}

function convertAll(
  source: ImportSource,
  { servers, inputs }: Extract<ForeignFile, { kind: "read" }>,
  { environment, root, target }: CollectContext,
): readonly ImportCandidate[] {
  const { program } = source;
  return servers.map((server) => {
    const folder = server.folder ?? source.folder;
    const place = {
      program,
      platform: environment.platform,
      target,
      root,
      inputs,
      ...(folder === undefined ? {} : { folder }),
    };
    return { name: server.name, source, conversion: convertServer(server, place) };
  });
}
