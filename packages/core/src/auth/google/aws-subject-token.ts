/**
 * Creates the token with which a workload in AWS proves its identity to Google. It is a signed request that Google
 * sends to AWS.
 */

import { parseObject, textIn } from "@fairlead/wire/json";
import { AwsRequestSigner } from "./google-library.ts";
import { type AwsSource, metadataText, type SubjectTokenError, type SubjectTokenOptions } from "./subject-source.ts";

type AwsOptions = Pick<SubjectTokenOptions, "environment" | "audience">;

interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly token?: string;
}

/**
 * Returns the signed request, encoded as Google expects it.
 *
 * @throws HostError `auth_failed` if AWS gives no credentials
 */
export async function awsSubjectToken(
  source: AwsSource,
  options: AwsOptions,
  fail: SubjectTokenError,
): Promise<string> {
  const ask = createMetadataReader(source, options, fail);
  const region = await findRegion(source, options, ask);
  const credentials = await findCredentials(source, options, ask, fail);
  const signer = new AwsRequestSigner(async () => credentials, region);
  const signed = await signer.getRequestOptions({
    url: source.verificationUrl.replace("{region}", region),
    method: "POST",
  });
  const headers = new Headers(signed.headers);
  // Google requires this header. It names the workload identity pool. As in Google's library, it is not signed.
  headers.set("x-goog-cloud-target-resource", options.audience);
  const request = {
    url: String(signed.url),
    method: signed.method,
    headers: [...headers].map(([key, value]) => ({ key, value })),
  };
  return encodeURIComponent(JSON.stringify(request));
}

type ReadMetadata = (url: string | undefined, what: string) => Promise<string>;

/** AWS may require a session token for its metadata server. Then `sessionUrl` is set. */
function createMetadataReader(
  { sessionUrl }: AwsSource,
  { environment }: AwsOptions,
  fail: SubjectTokenError,
): ReadMetadata {
  let session: Promise<string> | undefined;
  return async (url, what) => {
    if (url === undefined)
      throw fail(`neither the environment nor the credentials file says where to find the ${what}`);
    const ttl = { "x-aws-ec2-metadata-token-ttl-seconds": "300" };
    session ??=
      sessionUrl === undefined
        ? undefined
        : metadataText(sessionUrl, { method: "PUT", headers: ttl }, environment, fail);
    const token = await session;
    return metadataText(
      url,
      { headers: token === undefined ? {} : { "x-aws-ec2-metadata-token": token } },
      environment,
      fail,
    );
  };
}

async function findRegion(
  { regionUrl }: AwsSource,
  { environment: { env } }: AwsOptions,
  ask: ReadMetadata,
): Promise<string> {
  const named = env["AWS_REGION"] || env["AWS_DEFAULT_REGION"];
  // The metadata server returns an availability zone, such as `us-east-1a`: the region and one letter.
  return named || (await ask(regionUrl, "AWS region")).trim().slice(0, -1);
}

async function findCredentials(
  { credentialsUrl }: AwsSource,
  { environment: { env } }: AwsOptions,
  ask: ReadMetadata,
  fail: SubjectTokenError,
): Promise<AwsCredentials> {
  const [key, secret] = [env["AWS_ACCESS_KEY_ID"], env["AWS_SECRET_ACCESS_KEY"]];
  if (key && secret) return withToken(key, secret, env["AWS_SESSION_TOKEN"]);
  const role = (await ask(credentialsUrl, "AWS credentials")).trim();
  const given = parseObject(await ask(`${credentialsUrl}/${encodeURIComponent(role)}`, "AWS credentials")) ?? {};
  const [accessKeyId, secretAccessKey] = [textIn(given, "AccessKeyId"), textIn(given, "SecretAccessKey")];
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw fail("the AWS metadata server gave no credentials");
  return withToken(accessKeyId, secretAccessKey, textIn(given, "Token"));
}

function withToken(accessKeyId: string, secretAccessKey: string, token: string | undefined): AwsCredentials {
  return { accessKeyId, secretAccessKey, token: token || undefined };
}
