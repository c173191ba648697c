/** Environment variables that carry settings, and the queue, into the functions; tables' are in lib/dynamodb/tables.ts. */
export const environment = {
  /** `true`: only agents defined in the agents module exist. */
  strictAgents: 'DORMOUSE_STRICT_AGENTS',
  /** `false`: callers are not shown the stacks of the error log. */
  showStacks: 'DORMOUSE_SHOW_STACKS',
  /** The JWT claim that names a caller's tenant; set only with `auth: jwt`. */
  tenantClaim: 'DORMOUSE_TENANT_CLAIM',
  /** `skip` or `allow`: what happens to a run while another one of its action is still going. */
  overlap: 'DORMOUSE_OVERLAP',
  /** The URL of the queue between dispatcher and workers. */
  runQueueUrl: 'DORMOUSE_RUN_QUEUE_URL',
  /** Of each variable that actions ask for as a secret, the name of the secret: JSON. */
  secrets: 'DORMOUSE_SECRETS',
  /** Ids of the models that actions may invoke, parted by commas. */
  bedrockModels: 'DORMOUSE_BEDROCK_MODELS',
  /** `true`: webhooks may reach addresses of private networks. */
  allowPrivateAddresses: 'DORMOUSE_ALLOW_PRIVATE_ADDRESSES',
  /** What names are hashed with in the log: of one deployment, and not known to those who only read its log. */
  logKey: 'DORMOUSE_LOG_KEY',
} as const;
