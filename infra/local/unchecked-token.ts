import type { JwtAuth } from '../settings.ts';

/** The claims of a token as API Gateway hands them on. */
export type Claims = Readonly<Record<string, string>>;

/**
 * What API Gateway's authorizer does with a token, but for the one thing that makes it safe: nobody checks who has signed
 * it. Resolves the claims; undefined where the gateway would refuse it. For the loopback address only.
 */
export function uncheckedClaims(
  authorization: string | undefined,
  { issuer, audience }: JwtAuth,
  now: Date,
): Claims | undefined {
  const [, payload] = /^(?:Bearer +)?[\w-]+\.([\w-]+)\.[\w-]*$/i.exec(authorization ?? '') ?? [];
  if (payload === undefined) return undefined;
  const claims = parsed(Buffer.from(payload, 'base64url').toString());
  if (claims === undefined) return undefined;
  const { iss, aud, client_id, exp, nbf } = claims;
  const seconds = now.getTime() / 1000;
  const isFor = [aud ?? client_id].flat().some((one) => audience.includes(String(one)));
  const isInTime =
    (exp === undefined || Number(exp) > seconds) && (nbf === undefined || Number(nbf) <= seconds);
  if (iss !== issuer || !isFor || !isInTime) return undefined;
  return Object.fromEntries(Object.entries(claims).map(([name, value]) => [name, asText(value)]));
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** API Gateway makes text of every claim: of a list, its items in brackets. */
function asText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.join(' ')}]`;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
