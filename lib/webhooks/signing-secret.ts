/** As the Standard Webhooks specification has it, of a symmetric secret. */
const minBytes = 24;
const maxBytes = 64;

/** What is wrong with a secret that requests are to be signed with, without quoting it. */
export function signingSecretProblem(secret: string): string | undefined {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const key = Buffer.from(base64 ?? '', 'base64');
  const isWhole = base64 !== undefined && key.toString('base64') === base64;
  if (isWhole && key.length >= minBytes && key.length <= maxBytes) return undefined;
  return `must be whsec_ and the base64 of ${minBytes} to ${maxBytes} bytes`;
}
