import type { SealedStore } from '../keyring/sealed-store.ts';
import { sealContext } from './mail.ts';
import { countMailsByKey, listMailsUnderOtherKeys, replaceMailText } from './queries.ts';

/** The texts of mails that are not sent yet, by the mail's id. */
export const sealedMails: SealedStore<string> = {
  what: 'mails',
  countByKey: countMailsByKey,
  listUnderOtherKeys: async (db, page) =>
    (await listMailsUnderOtherKeys(db, page)).map((mail) => ({
      position: mail.id,
      name: `the mail ${mail.id}`,
      sealed: mail.sealedText,
      context: sealContext(mail.id),
      replaceBy: (sealed) => replaceMailText(mail, sealed),
    })),
};
