/** An expired snapshot is absent, whether or not its store has deleted it yet. */
export function isLive({ expiresAt }: { expiresAt?: Date | undefined }, now: Date): boolean {
  return expiresAt === undefined || expiresAt > now;
}
