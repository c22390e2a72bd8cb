// A receiver of events in one file, with Go's own library only:
//
//	DALASI_WEBHOOK_SECRET=wh_… PORT=4000 go run examples/receiver.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

var (
	wholeSecret    = regexp.MustCompile(`\Awh_[A-Za-z0-9+/]{32,}={0,2}\z`)
	wholeTimestamp = regexp.MustCompile(`\A[0-9]{1,12}\z`)
)

// With an empty secret everybody could sign, and with a cut one nothing would verify: start with neither.
func checkSecret(secret string) error {
	if !wholeSecret.MatchString(secret) {
		return errors.New("the webhook secret is not set, or is not the whole of it: wh_ and at least 32 characters")
	}
	return nil
}

// rawBody: the raw request body.
func verifyService(rawBody []byte, headers http.Header, secret string) bool {
	if checkSecret(secret) != nil {
		return false
	}
	mac := hmac.New(sha512.New, []byte(secret))
	mac.Write(rawBody)
	expected := hex.EncodeToString(mac.Sum(nil))
	return hmac.Equal([]byte(expected), []byte(headers.Get("x-service-signature")))
}

func verifyStandard(rawBody []byte, headers http.Header, secret string, now time.Time) bool {
	if checkSecret(secret) != nil {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(secret[len("wh_"):])
	timestamp := headers.Get("webhook-timestamp")
	if err != nil || !wholeTimestamp.MatchString(timestamp) {
		return false
	}
	seconds, _ := strconv.ParseInt(timestamp, 10, 64)
	if distance := now.Unix() - seconds; distance > 300 || distance < -300 {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.", headers.Get("webhook-id"), timestamp)
	mac.Write(rawBody)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	// During a rotation there are two signatures, separated by a space.
	for _, signature := range strings.Split(headers.Get("webhook-signature"), " ") {
		if hmac.Equal([]byte(expected), []byte(signature)) {
			return true
		}
	}
	return false
}

type event struct {
	ID       string `json:"id"`
	Kind     string `json:"event"`
	Sequence int64  `json:"sequence"`
	Data     struct {
		ID string `json:"id"`
	} `json:"data"`
}

const (
	bodyBytesMax = 1024 * 1024
	remembered   = 10_000
)

// A shop keeps both in its database, in the transaction that does the work: a unique key on the event's id, and the
// sequence beside the record.
type memory struct {
	sync.Mutex
	seenIDs         map[string]bool
	newestSequences map[string]int64
}

// What to do with a genuine event. The body's id is the header's webhook-id, and both signatures cover it. An event that
// arrives after a later one still counts: a payment that was partly refunded is paid all the same. Only its record is
// outdated, and must not overwrite the one you have.
func (m *memory) sort(e event) string {
	m.Lock()
	defer m.Unlock()
	if m.seenIDs[e.ID] {
		return "repeated"
	}
	if len(m.seenIDs) >= remembered {
		m.seenIDs, m.newestSequences = map[string]bool{}, map[string]int64{}
	}
	m.seenIDs[e.ID] = true
	if e.Sequence <= m.newestSequences[e.Data.ID] {
		return "handled (record outdated)"
	}
	m.newestSequences[e.Data.ID] = e.Sequence
	return "handled"
}

func receive(w http.ResponseWriter, r *http.Request, secret string, kept *memory) int {
	if r.Method != http.MethodPost {
		return http.StatusMethodNotAllowed
	}
	rawBody, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyBytesMax))
	if err != nil {
		return http.StatusRequestEntityTooLarge
	}
	// One of the two is enough. Standard Webhooks also refuses what is old, and takes either secret during a rotation.
	isGenuine := false
	if os.Getenv("DALASI_SIGNATURE") == "service" {
		isGenuine = verifyService(rawBody, r.Header, secret)
	} else {
		isGenuine = verifyStandard(rawBody, r.Header, secret, time.Now())
	}
	if !isGenuine {
		return http.StatusUnauthorized
	}
	// Only now: before the signature is verified, the body is anybody's text.
	var e event
	if json.Unmarshal(rawBody, &e) != nil {
		return http.StatusBadRequest
	}
	// Here a shop stores the event and answers; the work is done afterwards, by something that reads what was stored.
	fmt.Printf("%s %s: %s\n", e.Kind, e.ID, kept.sort(e))
	return http.StatusNoContent
}

func main() {
	secret := os.Getenv("DALASI_WEBHOOK_SECRET")
	if err := checkSecret(secret); err != nil {
		log.Fatal(err)
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "4000"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	kept := &memory{seenIDs: map[string]bool{}, newestSequences: map[string]int64{}}
	server := http.Server{
		ReadTimeout: 15 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(receive(w, r, secret, kept))
		}),
	}
	fmt.Printf("Listening on http://%s\n", listener.Addr())
	log.Fatal(server.Serve(listener))
}
