/** Without its parameters, in lower case. */
export function mediaType(contentType: string): string {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/**
 * Whether a Content-Type names one media type. Several, as a header that was sent twice becomes, would each mean another
 * reading of the body. Of its parameters only that is looked at: many clients send some that are no tokens.
 */
export function isMediaType(contentType: string): boolean {
  const unquoted = contentType.replace(/"(?:[^"\\]|\\.)*"/g, '');
  return /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+$/.test(mediaType(contentType)) && !unquoted.includes(',');
}

/** Only this media type, with or without parameters: what looks similar (`…+json`) is kept as opaque bytes. */
export function isJson(contentType: string): boolean {
  return mediaType(contentType) === 'application/json';
}

/** Whether a Content-Encoding stands for anything: `identity` and an empty one do not. */
export function isEncoded(contentEncoding: string | undefined): boolean {
  const encoding = contentEncoding?.trim().toLowerCase() ?? '';
  return encoding !== '' && encoding !== 'identity';
}
