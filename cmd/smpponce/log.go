package main

import (
	"io"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"smpponce/config"
)

// newLog writes a line for each entry, none of them sampled away: the lines about resubmissions are the record of what
// was decided.
func newLog(c config.Log, w io.Writer) (*zap.Logger, error) {
	level, err := zapcore.ParseLevel(string(c.Level))
	if err != nil {
		return nil, err
	}
	keys := zap.NewProductionEncoderConfig()
	keys.TimeKey = "time"
	keys.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	keys.EncodeDuration = zapcore.StringDurationEncoder
	encoder := zapcore.NewJSONEncoder(keys)
	if c.Format == config.FormatConsole {
		encoder = zapcore.NewConsoleEncoder(keys)
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), level)), nil
}
