/**
 * One block of a result: text, image, sound, a resource or a link to one. Bytes are read only when they are shown, and
 * nothing of a server becomes part of the page: HTML and unknown types are text, or are saved as a file.
 */

import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { useApp } from "../../app.ts";
import { Button } from "../../components/button.tsx";
import { CopyButton } from "../../components/copy.tsx";
import { JsonTree } from "../../components/json-tree.tsx";
import { Link, OutsideLink } from "../../components/link.tsx";
import { Markdown, mayBeMarkdown } from "../../components/markdown.tsx";
import { Failure } from "../../components/notice.tsx";
import { Text, visibleText } from "../../components/text.tsx";
import { toAddress } from "../../router.ts";
import { imageTypes, readBlob, useBlobUrl } from "./blob-url.ts";

/** A JSON object of a result. Its members are what the server has sent. */
export type Json = Readonly<Record<string, unknown>>;

export interface ContentBlockProps {
  readonly block: Json;
  readonly server: string;
  readonly call: string;
  readonly path: string;
}

/** Text beyond this is cut until the person wants all of it. */
const longText = 20_000;
/** Larger images are not decoded unless the person says so. */
const mostImageBytes = 8 * 1024 * 1024;

export function asJson(value: unknown): Json | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}

export function ContentBlock({ block, server, call, path }: ContentBlockProps): VNode {
  const { type } = block;
  if (type === "text") return <TextBlock text={textIn(block, "text") ?? ""} type={undefined} />;
  if (type === "image" || type === "audio") return <BytesBlock block={block} call={call} path={path} />;
  if (type === "resource_link") return <LinkBlock block={block} server={server} />;
  const resource = type === "resource" ? asJson(block["resource"]) : undefined;
  if (resource !== undefined) return <ResourceContent resource={resource} call={call} path={path} />;
  return <JsonTree value={block} label="Block of an unknown type" />;
}

export interface ResourceContentProps {
  readonly resource: Json;
  readonly call: string;
  readonly path: string;
}

/** The content of a resource, with its address. */
export function ResourceContent({ resource, call, path }: ResourceContentProps): VNode {
  const text = textIn(resource, "text");
  const uri = textIn(resource, "uri") ?? "";
  const type = textIn(resource, "mimeType");
  return (
    <figure class="block-figure">
      <figcaption>
        <Text of={uri} exact class="mono" />
        {type !== undefined && (
          <span class="muted">
            <Text of={type} exact />
          </span>
        )}
      </figcaption>
      {text === undefined ? (
        <BytesBlock block={resource} call={call} path={path} />
      ) : (
        <TextBlock text={text} type={type} />
      )}
    </figure>
  );
}

function TextBlock({ text, type }: { readonly text: string; readonly type: string | undefined }): VNode {
  const isMarkdown = type === "text/markdown" || (type === undefined && mayBeMarkdown(text));
  const [isRendered, setRendered] = useState(false);
  return (
    <div class="block-text">
      <div class="block-tools">
        {isMarkdown && (
          <Button kind="quiet" isPressed={isRendered} onPress={() => setRendered(!isRendered)}>
            Formatted
          </Button>
        )}
        <CopyButton text={text} what="the text" />
      </div>
      {isRendered ? <Markdown text={text} /> : <Text of={text} lines most={longText} class="block-plain" />}
    </div>
  );
}

function BytesBlock({ block, call, path }: Pick<ContentBlockProps, "block" | "call" | "path">): VNode {
  const type = textIn(block, "mimeType") ?? "application/octet-stream";
  const bytes = typeof block["bytes"] === "number" ? block["bytes"] : undefined;
  const isMedia = imageTypes.has(type) || /^audio\/[\w.+-]+$/.test(type);
  const [isWanted, setWanted] = useState(isMedia && (bytes ?? 0) <= mostImageBytes);
  const { value, error } = useBlobUrl({ call, path }, isMedia && isWanted ? type : undefined);
  const what = (
    <span class="muted">
      <Text of={type} exact />
      {bytes !== undefined && `, ${bytes.toLocaleString("en")} bytes`}
    </span>
  );
  return (
    <div class="block-bytes">
      <p class="block-line">
        {what} <SaveButton call={call} path={path} type={type} />
        {isMedia && !isWanted && <Button onPress={() => setWanted(true)}>Show it</Button>}
      </p>
      {error !== undefined && <Failure error={error} />}
      {value !== undefined && (imageTypes.has(type) ? <ShownImage url={value} type={type} /> : <Sound url={value} />)}
    </div>
  );
}

function ShownImage({ url, type }: { readonly url: string; readonly type: string }): VNode {
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <p class="muted">The bytes are no image of this type.</p>;
  return <img class="block-image" src={url} alt={`In the result: ${type}`} onError={() => setBroken(true)} />;
}

function Sound({ url }: { readonly url: string }): VNode {
  return (
    // biome-ignore lint/a11y/useMediaCaption: a server sends no captions with a sound
    <audio controls src={url} aria-label="Sound of the result" />
  );
}

/** Saves the bytes as a file. They are never opened here, because they could be a page. */
function SaveButton({
  call,
  path,
  type,
}: {
  readonly call: string;
  readonly path: string;
  readonly type: string;
}): VNode {
  const app = useApp();
  return (
    <Button
      kind="quiet"
      onPress={async () => {
        const url = URL.createObjectURL(await readBlob(app, { call, path }, "application/octet-stream"));
        const link = document.createElement("a");
        link.href = url;
        link.download = `result${endings[type] ?? ".bin"}`;
        link.click();
        setTimeout(() => URL.revokeObjectURL(url), 10_000);
      }}
    >
      Save
    </Button>
  );
}

const endings: Readonly<Record<string, string>> = {
  "image/png": ".png",
  "image/jpeg": ".jpg",
  "image/gif": ".gif",
  "image/webp": ".webp",
  "image/avif": ".avif",
  "image/svg+xml": ".svg",
  "application/pdf": ".pdf",
  "application/json": ".json",
};

function LinkBlock({ block, server }: { readonly block: Json; readonly server: string }): VNode {
  const uri = textIn(block, "uri") ?? "";
  const title = textIn(block, "title") ?? textIn(block, "name");
  const description = textIn(block, "description");
  return (
    <div class="block-link">
      <Line>
        {title !== undefined && (
          <strong>
            <Text of={title} exact />
          </strong>
        )}
        {/^https?:/i.test(uri) ? <OutsideLink url={uri} /> : <Text of={uri} exact class="mono" />}
        <Link to={toAddress(["resources", server], { uri })}>
          Read<span class="visually-hidden"> {visibleText(uri.slice(0, 80), false, true)}</span>
        </Link>
      </Line>
      {description !== undefined && (
        <p class="muted">
          <Text of={description} lines most={1000} />
        </p>
      )}
    </div>
  );
}

function Line({ children }: { readonly children: ComponentChildren }): VNode {
  return <p class="block-line">{children}</p>;
}

function textIn(object: Json, name: string): string | undefined {
  const value = object[name];
  return typeof value === "string" ? value : undefined;
}
