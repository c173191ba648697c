import dynalite from 'dynalite';

/** The embedded DynamoDB in a process of its own, so that its work is not counted as the caller's. */
const server = dynalite({ createTableMs: 0 });
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.(typeof address === 'object' ? address?.port : undefined);
});
process.on('disconnect', () => process.exit());
