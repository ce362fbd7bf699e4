package main

import "crypto/tls"

// trustAnyone is for servers that a script has just started with a certificate of their own.
func trustAnyone() *tls.Config { return &tls.Config{InsecureSkipVerify: true} }
