package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// A node with an interrupt asks a person before it is entered or after it is
// done. The answer is bound to the node as it is configured and to the state:
// when either is another one, the question is asked again.

// nodeBound is what an answer about a node is bound to.
func (r *run) nodeBound(n actor.Node) (string, error) {
	conf, err := json.Marshal(n)
	if err != nil {
		return "", fault.New(fault.Internal, "encode node: %w", err)
	}
	visits, err := json.Marshal(r.p.Visits)
	if err != nil {
		return "", fault.New(fault.Internal, "encode visits: %w", err)
	}
	return digest("node", string(conf), r.p.Vars, string(visits)), nil
}

func nodeSubject(n actor.Node) string { return string(n.Interrupt) + " " + n.ID }

// nodeGrant is a person's unspent yes to the node as it stands now, or nil.
func (r *run) nodeGrant(ctx context.Context, n actor.Node) (*plan.Approval, error) {
	bound, err := r.nodeBound(n)
	if err != nil {
		return nil, err
	}
	return r.grant(ctx, plan.ApproveNode, nodeSubject(n), bound)
}

// askNode makes the plan wait for a person's word on a node.
func (r *run) askNode(ctx context.Context, n actor.Node, s actor.State) error {
	bound, err := r.nodeBound(n)
	if err != nil {
		return err
	}
	what := "go into node "
	if n.Interrupt == actor.After {
		what = "go on from node "
	}
	var known []string
	for _, key := range slices.Sorted(maps.Keys(s.Of(n.Scope))) {
		text := strings.Join(strings.Fields(s.Text(n.Scope, "state."+key)), " ")
		known = append(known, key+" is "+clip(text, 120))
	}
	if len(known) > 0 {
		what += n.ID + ", where " + clip(strings.Join(known, "; "), 600)
	} else {
		what += n.ID
	}
	return r.ask(ctx, plan.Approval{
		Kind: plan.ApproveNode, Subject: nodeSubject(n), Bound: bound, Summary: fmt.Sprintf("%s (%s)", what, n.What()),
	}, nil)
}

// rejectedNode handles a no at a node. The graph may say what then. Guidance is
// a decision of the person's and is kept in the state; else it goes to the model
// that worked last. Where nothing takes the no, the plan pauses, and asks again
// when it is resumed.
func (r *run) rejectedNode(ctx context.Context, a plan.Approval) (bool, error) {
	n, ok := r.actorNow().Node(r.p.Node)
	if r.p.Node == "" {
		n, ok = r.actorNow().Graph[0], true
	}
	if !ok {
		return false, fault.New(fault.Corrupt, "approval %s is about node %q, which is not there", a.ID, r.p.Node)
	}
	next := r.p
	a.State = plan.Lapsed
	var said *plan.Decision
	var events []plan.Event
	if a.Guidance != "" {
		d, err := r.intervention(ctx, a.Summary, a.Guidance)
		if err != nil {
			return false, err
		}
		said = &d
		events = append(events, r.decisionEvent(said))
		s, err := r.state(ctx)
		if err != nil {
			return false, err
		}
		if next.Vars, err = r.putVars(ctx, s.Set(n.Scope+actor.KeyPerson, a.Guidance)); err != nil {
			return true, r.failBy(ctx, n, err)
		}
	}
	on := plan.Resume
	switch {
	case n.OnReject != "":
		next.Node, next.NodeOpen, next.NodeDone, next.NodeBad = n.OnReject, false, false, false
	case said != nil && r.sendBack(&next, "guidance", "approval:"+string(a.ID), personSays+a.Guidance):
	default:
		on = plan.Pause
	}
	var err error
	if next.Status, err = plan.Next(next.Status, on); err != nil {
		return false, err
	}
	next.Reason = ""
	if on == plan.Pause {
		next.Reason, next.Fault = "rejected: "+a.Summary, fault.Blocked.String()
	}
	return on == plan.Pause, r.move(ctx, next, func(tx Tx) error {
		if said != nil {
			if err := r.insertDecision(tx, said, nil); err != nil {
				return err
			}
		}
		return tx.UpdateApproval(a)
	}, events...)
}
