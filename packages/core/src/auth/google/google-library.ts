/**
 * Re-exports the parts of Google's library that Fairlead uses. The library is a CommonJS package, and in a split bundle
 * the dynamic import of such a package has no named exports.
 */

export {
  AwsRequestSigner,
  Compute,
  ExternalAccountAuthorizedUserClient,
  gcpMetadata,
  IdentityPoolClient,
  Impersonated,
  JWT,
  UserRefreshClient,
} from "google-auth-library";
