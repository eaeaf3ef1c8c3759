// An application on node-smpp. It keeps a window of unanswered messages; where its session closes it makes a new one and
// sends again what was unanswered, as its callbacks never fire for those. It ends when each message has its answer and its
// receipt. It prints a line "answered" when all have their answers, and at last what it knows as one line of JSON.
//
// Usage: node client.js HOST PORT MESSAGES
'use strict';
const smpp = require('smpp');

const [host, port, count] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const window = 10;
const ids = {}; // by text
const receipts = {}; // how many, by message id
const refused = {}; // how many, by command_status
let queue = Array.from({length: count}, (_, i) => i);
let answered = false;
let sent = 0;
let sessions = 0;

function connect() {
  sessions++;
  const session = smpp.connect({host, port});
  const flying = new Set();
  let bound = false;

  const fill = () => {
    while (bound && queue.length > 0 && flying.size < window) {
      const i = queue.shift();
      const text = `message ${i}`;
      flying.add(i);
      sent++;
      session.submit_sm({
        source_addr: 'Shop', source_addr_ton: 5,
        destination_addr: '49151' + String(i).padStart(8, '0'), dest_addr_ton: 1, dest_addr_npi: 1,
        registered_delivery: 1, short_message: text,
      }, (pdu) => {
        // Where the stream ends inside a PDU, node-smpp takes what there is for a whole one. The SMSC's ids have 16 digits.
        if (pdu.command_status === 0 && pdu.message_id.length < 16) {
          return;
        }
        flying.delete(i);
        if (pdu.command_status === 0) {
          ids[text] = pdu.message_id;
        } else {
          refused[pdu.command_status] = (refused[pdu.command_status] || 0) + 1;
          setTimeout(() => { queue.push(i); fill(); }, 500);
        }
        fill();
        finish();
      });
    }
  };
  const finish = () => {
    if (Object.keys(ids).length === count && !answered) {
      answered = true;
      console.log('answered');
    }
    if (bound && answered && Object.values(ids).every((id) => receipts[id])) {
      bound = false;
      session.unbind(() => {
        console.log(JSON.stringify({ids, receipts, refused, sent, sessions}));
        process.exit(0);
      });
    }
  };

  session.on('connect', () => session.bind_transceiver({system_id: 'node', password: 'secret'}, (pdu) => {
    bound = pdu.command_status === 0;
    fill();
    finish();
  }));
  session.on('deliver_sm', (pdu) => {
    session.send(pdu.response());
    const id = /id:(\S+)/.exec(pdu.short_message.message)[1];
    receipts[id] = (receipts[id] || 0) + 1;
    finish();
  });
  session.on('error', () => {}); // the close follows
  session.on('close', () => {
    bound = false;
    queue = [...flying, ...queue];
    flying.clear();
    setTimeout(connect, 10);
  });
}

connect();
